import { describe, expect, it } from 'vitest';
import { parsePromql } from '../../prometheus/promql/parse.ts';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { FAMILY_DESCRIPTIONS, FAMILY_NAMES } from '../../src/metrics/catalogue.ts';
import { healthFamily } from '../../src/metrics/family.ts';
import { knownMetrics, unknownIn } from '../prometheus/promql/known-metrics.ts';

describe('metricsReference', () => {
  it('names every family', () => {
    const text = metricsReference();
    expect(FAMILY_NAMES.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('FAMILY_DESCRIPTIONS', () => {
  const metrics = knownMetrics();

  it.each(FAMILY_DESCRIPTIONS)(
    'has an example for $name that selects it and only known metrics',
    ({ name, type, example }) => {
      const selected = parsePromql(example).selectors.map(({ metric }) => metric);
      expect(selected).toContain(type === 'histogram' ? `${name}_bucket` : name);
      expect(unknownIn(example, metrics)).toEqual([]);
    },
  );

  it('uses counters in rate or increase only', () => {
    const counters = FAMILY_DESCRIPTIONS.filter(({ type }) => type === 'counter').map(({ name }) => name);
    const bare = FAMILY_DESCRIPTIONS.flatMap(({ example }) =>
      parsePromql(example).selectors.filter(
        ({ metric, within }) => counters.includes(metric) && !/^(rate|increase)$/.test(`${within[0]}`),
      ),
    );
    expect(bare).toEqual([]);
  });
});

describe('healthFamily', () => {
  const row = { name: 'a', help: 'b', labels: ['reason'], exampleTitle: 'c' } as const;

  it('does not compile when a sample lacks a label', () => {
    // @ts-expect-error: one label is declared, none is given.
    expect(healthFamily({ ...row, example: 'a', samples: () => [[1]] }).labels).toEqual(['station', 'reason']);
  });
});
