import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

/** The lines of the threat model by their cells. */
const lines = read('SECURITY.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .slice(1);
const proofs = lines.flatMap(([, , , , cell = '']) => cell.split('<br>'));

describe('SECURITY.md', () => {
  it('has four cells and a proof in every line of its threat model', () => {
    const incomplete = lines.filter((cells) => cells.length !== 6 || cells.slice(1, 5).includes(''));
    expect(incomplete).toEqual([]);
    expect(proofs.length).toBeGreaterThanOrEqual(lines.length);
  });

  it('looks at every attacker', () => {
    const attackers = new Set(lines.map(([, attacker = '']) => attacker.split(' ').slice(0, 2).join(' ')));
    const expected = ['on the', 'hostile upstream', 'hostile resource', 'reader of', 'flood of', 'holder of', 'supply chain'];
    expect([...attackers]).toEqual(expect.arrayContaining(expected));
  });

  it.each(proofs)('names a test that exists: %s', (proof) => {
    const [, file = '', title = ''] = /^`(test\/[\w/-]+\.test\.ts)` › (.+)$/.exec(proof) ?? [];
    expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
    const source = read(file);
    const written = [`'${title}',`, `"${title}",`].some((literal) => source.includes(literal));
    expect(written, `${file} has no test called ${title}`).toBe(true);
  });
});
