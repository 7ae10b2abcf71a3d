import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../src/collectors/collectors.ts';
import { RESOURCE_FAMILIES } from '../../src/resources/families.ts';
import type { Resource } from '../../src/resources/fields.ts';
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

describe('RESOURCE_FAMILIES', () => {
  it.each(Object.values(RESOURCE_FAMILIES))('$name reads only the fields that it declares', ({ fields, sample }) => {
    const read: (string | symbol)[] = [];
    const known: Partial<Resource> = { alertRules: 2, createdSeconds: 1, sku: '8 GiB' };
    for (const values of [known, {}]) {
      sample(
        new Proxy(values as Resource, {
          get: (target, field) => {
            read.push(field);
            return Reflect.get(target, field);
          },
        }),
      );
    }
    expect(read).not.toEqual([]);
    expect(fields).toEqual(expect.arrayContaining(read));
  });
});
