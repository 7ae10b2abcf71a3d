import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** The packages in the lists of the page, by section. */
function listed(): string[][] {
  const [, ...sections] = read('docs/dependencies.md').split(/^## /m);
  return sections.map((section) => Array.from(section.matchAll(/^- `(.+?)`: \S/gm), ([, name = '']) => name));
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
