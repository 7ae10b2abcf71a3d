import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../', import.meta.url));

function packed(): readonly string[] {
  const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(listing) as [{ files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}

describe('npm pack', () => {
  it("includes the program and the operators' files, and neither sources nor tests", () => {
    const files = packed();
    expect(files).toEqual(
      expect.arrayContaining(['dist/main.js', 'config.schema.json', 'prometheus/rules.yml', 'LICENSE']),
    );
    expect(files.filter((file) => /^(?:src|test|bench|scripts|deploy)\/|\.test\./.test(file))).toEqual([]);
  });

  it('installs a command named like the package', () => {
    expect(packageJson.bin).toEqual({ [packageJson.name]: 'dist/main.js' });
    expect(readFileSync(new URL('../dist/main.js', import.meta.url), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});
