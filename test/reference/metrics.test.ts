import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPromql } from '../../scripts/grafana/promql.ts';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { FAMILY_DESCRIPTIONS, FAMILY_NAMES } from '../../src/metrics/catalogue.ts';
import { healthFamily } from '../../src/metrics/family.ts';
import { knownMetrics, unknownIn } from '../grafana/known.ts';

describe('metricsReference', () => {
  it('is what docs/metrics.md says', async () => {
    await expect(metricsReference()).toMatchFileSnapshot('../../docs/metrics.md');
  });

  it('names every family', () => {
    const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    expect(FAMILY_NAMES.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('FAMILY_DESCRIPTIONS', () => {
  const metrics = knownMetrics();

  it.each(FAMILY_DESCRIPTIONS)(
    'has an example for $name that asks for it, and for nothing that is not there',
    ({ name, type, example }) => {
      const selected = readPromql(example).selections.map(({ metric }) => metric);
      expect(selected).toContain(type === 'histogram' ? `${name}_bucket` : name);
      expect(unknownIn(example, metrics)).toEqual([]);
    },
  );

  it('answers a question of its own with each', () => {
    for (const key of ['example', 'answers'] as const) {
      expect(new Set(FAMILY_DESCRIPTIONS.map((family) => family[key])).size).toBe(FAMILY_DESCRIPTIONS.length);
    }
  });

  it('has counters in a rate or an increase alone', () => {
    const counters = FAMILY_DESCRIPTIONS.filter(({ type }) => type === 'counter').map(({ name }) => name);
    const bare = FAMILY_DESCRIPTIONS.flatMap(({ example }) =>
      readPromql(example).selections.filter(({ metric, within }) => counters.includes(metric) && !/^(rate|increase)$/.test(`${within[0]}`)),
    );
    expect(bare).toEqual([]);
  });
});

describe('healthFamily', () => {
  const row = { name: 'a', help: 'b', type: 'gauge', labels: ['reason'], answers: 'c' } as const;

  it('does not compile when a sample lacks a label', () => {
    // @ts-expect-error: one label is declared, none is given.
    expect(healthFamily({ ...row, example: 'a', samples: () => [[1]] }).labels).toEqual(['station', 'reason']);
  });

  it('does not compile without an example', () => {
    // @ts-expect-error: there is none.
    expect(healthFamily({ ...row, samples: () => [[1, 'd']] }).name).toBe('a');
  });
});
