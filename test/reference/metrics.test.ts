import { describe, expect, it } from 'vitest';
import { metricsReference } from '../../scripts/reference/metrics.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/collectors/collectors.ts';
import { knownMetrics, unknownIn } from '../prometheus/promql/known-metrics.ts';
import { parsePromql } from '../prometheus/promql/parse.ts';

describe('FAMILY_DESCRIPTIONS', () => {
  const metrics = knownMetrics();

  it.each(FAMILY_DESCRIPTIONS)(
    'has an unescaped help for $name, and an example that selects it and only known metrics',
    ({ name, help, type, example }) => {
      expect(help).not.toMatch(/["\\\n]/);
      const selected = parsePromql(example).selectors.map(({ metric }) => metric);
      expect(selected).toContain(type === 'histogram' ? `${name}_bucket` : name);
      expect(unknownIn(example, metrics)).toEqual([]);
    },
  );

  it('has no family that the page of metrics lacks', () => {
    const page = metricsReference();
    expect(FAMILY_DESCRIPTIONS.filter(({ name }) => !page.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([]);
  });
});
