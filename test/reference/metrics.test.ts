import { describe, expect, it } from 'vitest';
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
});
