import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

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
      expect.arrayContaining([
        'dist/main.js',
        'dist/lab/main.js',
        'dist/src/web/pages/style.css',
        'dist/src/web/pages/browser/live-page.js',
        'config.schema.json',
        'prometheus/rules.yml',
        'prometheus/alertmanager.yml',
        'LICENSE',
      ]),
    );
    expect(files.filter((file) => /^(?:src|lab|test|bench|scripts|deploy)\/|\.test\./.test(file))).toEqual([]);
  });
});
