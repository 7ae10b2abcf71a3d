import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** The packages in the tables of the page, by section. */
function listed(): string[][] {
  const [, ...sections] = read('docs/dependencies.md').split(/^## /m);
  return sections.map((section) => Array.from(section.matchAll(/^\| `(.+?)` \| \S.* \|$/gm), ([, name = '']) => name));
}

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

const { dependencies, devDependencies } = JSON.parse(read('package.json'));
const locked: [string, Locked][] = Object.entries(JSON.parse(read('package-lock.json')).packages);

describe('docs/dependencies.md', () => {
  it('lists exactly the dependencies of package.json', () => {
    expect(listed()).toEqual([Object.keys(dependencies), Object.keys(devDependencies)]);
  });
});

describe('docs/dependencies.md', () => {
  it('names the number of packages in an installation, and of those that come with express and compression', () => {
    const names = Object.keys(dependencies);
    const counts = [installedWith(names), installedWith(['express', 'compression'])];
    expect(read('docs/dependencies.md')).toContain(`An installation has ${counts[0]} packages`);
    expect(read('docs/dependencies.md')).toContain(`${counts[1]} of the ${counts[0]} come with`);
  });

  /** The number of packages that these need, without optional ones. */
  function installedWith(names: readonly string[]): number {
    const packages = new Map(locked);
    const found = new Set<string>();
    const visit = (name: string, from: string): void => {
      const path = `${from}node_modules/${name}`;
      const entry = packages.get(path);
      if (entry === undefined) visit(name, from.replace(/node_modules\/(?:@[^/]+\/)?[^/]+\/$/, ''));
      else if (!found.has(path)) {
        found.add(path);
        for (const dependency of Object.keys(entry.dependencies ?? {})) visit(dependency, `${path}/`);
      }
    };
    for (const name of names) visit(name, '');
    return found.size;
  }
});

describe('package-lock.json', () => {
  it('has no production dependency with an install script', () => {
    expect(locked.filter(([, { dev, hasInstallScript }]) => !dev && hasInstallScript).map(([path]) => path)).toEqual(
      [],
    );
  });

  it('names no registry', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});
