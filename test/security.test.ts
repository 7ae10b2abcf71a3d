import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

/** The rows of the threat model, split into cells. */
const [, threatModel = ''] = /^## Threat model\n(.*?)^## /ms.exec(read('SECURITY.md')) ?? [];
const lines = threatModel
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .slice(1);
const tests = lines.flatMap(([, , , , cell = '']) => cell.split('<br>'));

describe('SECURITY.md', () => {
  it('names at least one test in every row of its threat model', () => {
    const incomplete = lines.filter((cells) => cells.length !== 6 || cells.slice(1, 5).includes(''));
    expect(incomplete).toEqual([]);
    expect(tests.length).toBeGreaterThanOrEqual(lines.length);
  });

  it.each(tests)('names a test that exists: %s', (test) => {
    const [, file = '', title = ''] = /^`(test\/[\w/-]+\.test\.ts)` › (.+)$/.exec(test) ?? [];
    expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
    const source = read(file);
    const written = [`'${title}',`, `"${title}",`].some((literal) => source.includes(literal));
    expect(written, `${file} has no test called ${title}`).toBe(true);
  });
});
