import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { healthFamily } from '../../src/metrics/family.ts';
import { FAMILY_NAMES } from '../../src/metrics/family-names.ts';

describe('metricsReference', () => {
  it('is what docs/metrics.md says', async () => {
    await expect(metricsReference()).toMatchFileSnapshot('../../docs/metrics.md');
  });

  it('names every family', () => {
    const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    expect(FAMILY_NAMES.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('healthFamily', () => {
  it('does not compile when a sample lacks a label', () => {
    const row = { name: 'a', help: 'b', type: 'gauge', labels: ['reason'] } as const;
    // @ts-expect-error: one label is declared, none is given.
    expect(healthFamily({ ...row, samples: () => [[1]] }).labels).toEqual(['station', 'reason']);
  });
});
