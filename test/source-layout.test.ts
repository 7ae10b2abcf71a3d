import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

const sourceFiles = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const packages = readdirSync(SRC, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What each package may import: the last column of the table of packages in docs/architecture.md, where "all" means all rows above. */
function allowedImports(): Record<string, readonly string[]> {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `src\/(\w+)` \|.*\| ([^|]+) \|$/gm)];
  return Object.fromEntries(
    rows.map(([, name = '', cell = ''], at) => {
      const above = rows.slice(0, at).map(([, other = '']) => other);
      const named = Array.from(cell.matchAll(/`src\/(\w+)`/g), ([, found = '']) => found);
      const allowed = cell.startsWith('all') ? above.filter((other) => !named.includes(other)) : named;
      return [name, allowed];
    }),
  );
}

const textOf = (path: string) => readFileSync(join(SRC, path), 'utf8');
const packageOf = (path: string) => path.slice(0, path.indexOf('/'));

/** The files of src that a file imports, by their paths in src. */
function importsOf(path: string): string[] {
  const specifiers = Array.from(textOf(path).matchAll(/(?:from|import)[ (]'(\.[^']+)'/g), ([, found = '']) => found);
  const imported = specifiers.map((specifier) => relative(SRC, join(SRC, dirname(path), specifier)));
  return imported.filter((other) => !other.startsWith('../lab/'));
}

/** All that is loaded with a file: neither types nor what `import()` loads later. */
function loadedWith(path: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  const specifiers = Array.from(
    textOf(path).matchAll(/^(?:import|export|\}) (?!type )[^']*from '(.+)'/gm),
    ([, found = '']) => found,
  );
  for (const specifier of specifiers) {
    if (specifier.startsWith('.')) loadedWith(relative(SRC, join(SRC, dirname(path), specifier)), loaded);
    else loaded.add(specifier);
  }
  return loaded;
}

describe('src/commands/serve.ts', () => {
  it('does not load the HTTP client, so that the exporter listens early: the first request does', () => {
    expect([...loadedWith('commands/serve.ts')]).toContain('express');
    expect([...loadedWith('commands/serve.ts')]).not.toContain('undici');
    expect([...loadedWith('service/http/connection.ts')]).toContain('undici');
  });
});

describe('lab', () => {
  const LAB = fileURLToPath(new URL('../lab/', import.meta.url));

  it('is loaded by `--demo` and `simulate` when they run, and by nothing else in src', () => {
    const imports = sourceFiles.flatMap((path) =>
      Array.from(textOf(path).matchAll(/^.*\blab\/\w.*\.ts'.*$/gm), ([line]) => ({ path, line: line.trim() })),
    );
    expect(imports).toEqual([
      { path: 'commands/config-source.ts', line: "const { startDemo } = await import('../../lab/main.ts');" },
      { path: 'commands/simulate.ts', line: "const { startFromFlags } = await import('../../lab/main.ts');" },
    ]);
  });

  it('has a simulator that shares only names of faults and the format of recordings with src', () => {
    const imports = readdirSync(join(LAB, 'simulator')).flatMap((file) => {
      const text = readFileSync(join(LAB, 'simulator', file), 'utf8');
      return Array.from(text.matchAll(/from '\.\.\/(.+)'/g), ([, imported]) => imported);
    });
    expect(new Set(imports)).toEqual(new Set(['../src/cli/flag-type.ts', '../src/recording/recording.ts']));
  });
});

describe('packages of src', () => {
  it('are all in the table of docs/architecture.md', () => {
    expect(Object.keys(allowedImports()).toSorted()).toEqual(packages.toSorted());
  });

  it('import only packages in rows above theirs, so that no arrow points upwards and there is no circle', () => {
    const names = Object.keys(allowedImports());
    const upwards = Object.entries(allowedImports()).flatMap(([name, allowed]) =>
      allowed.filter((other) => names.indexOf(other) >= names.indexOf(name)).map((other) => `${name} → ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  it.each(Object.entries(allowedImports()))('%s imports only: %j', (name, allowed) => {
    const forbidden = sourceFiles
      .filter((path) => packageOf(path) === name)
      .flatMap((path) => importsOf(path).map((imported) => ({ path, imported })))
      .filter(({ imported }) => packageOf(imported) !== name && !allowed.includes(packageOf(imported)));
    expect(forbidden).toEqual([]);
  });
});

describe('modules of src', () => {
  it('are in no circle of imports, be they of types alone', () => {
    const imports = new Map(sourceFiles.map((path) => [path, importsOf(path)]));
    // A file that imports none of the others, or that none imports, is in no circle; without it, this may be true of the next one.
    let others = sourceFiles;
    let before: readonly string[] = [];
    while (others.length !== before.length) {
      before = others;
      const imported = new Set(before.flatMap((path) => imports.get(path) ?? []));
      others = before.filter((path) => imported.has(path) && imports.get(path)?.some((one) => before.includes(one)));
    }
    expect(others).toEqual([]);
  });

  it('have no state, except for those that docs/architecture.md names', () => {
    const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
    const [, sentence = ''] = /\nNone is on disk\.([\s\S]+?)\n\n/.exec(page) ?? [];
    const named = Array.from(sentence.matchAll(/`src\/([^`]+)`/g), ([, path = '']) => path);
    // A variable, or a collection that begins empty.
    const state =
      /^(?:export )?(?:let |const \w+(?:: .+)? = (?:\[\]|\{\}|new (?:Map|Set|WeakMap|WeakSet)(?:<.*>)?\(\));$)/m;
    const isConstant = /^(?:export )?const \w+: (?:readonly|Readonly)/;
    const found = sourceFiles.filter((path) => {
      const [line] = state.exec(textOf(path)) ?? [];
      return line !== undefined && !isConstant.test(line);
    });
    expect(found.toSorted()).toEqual(named.toSorted());
  });
});

/** The functions, classes, types and constants that a file declares outside of others. */
function declaredIn(path: string): { readonly path: string; readonly name: string; readonly isExported: boolean }[] {
  const declaration = /^(export )?(?:async )?(?:function\*?|class|interface|type|const|let) (\w+)/gm;
  return Array.from(textOf(path).matchAll(declaration), ([, exported, name = '']) => ({
    path,
    name,
    isExported: exported !== undefined,
  }));
}

describe('names of src', () => {
  it('are exported by one file, and mean nothing else in another', () => {
    const declared = sourceFiles.flatMap(declaredIn);
    const exported = declared.filter(({ isExported }) => isExported);
    expect(exported.length).toBeGreaterThan(sourceFiles.length);
    const twice = exported.flatMap(({ name, path }) =>
      declared.filter((other) => other.name === name && other.path !== path),
    );
    expect(twice).toEqual([]);
  });
});
