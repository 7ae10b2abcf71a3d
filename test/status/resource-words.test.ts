import { describe, expect, it } from 'vitest';
import { shortFormTest } from '../../src/query/selection.ts';
import { shortTypes } from '../../src/status/resource-words.ts';

describe('shortTypes', () => {
  const namesOf = (...keys: string[]) => [...shortTypes(keys).values()];

  it.each([
    [
      ['resource_type.network.eip.v1.eip', 'resource_type.compute.acp.v1.trainingJob'],
      ['eip', 'trainingJob'],
    ],
    [
      ['x.workspace.v1.instance', 'x.aec2.v1.instance', 'x.eip'],
      ['workspace.v1.instance', 'aec2.v1.instance', 'eip'],
    ],
    [
      ['a.b.c.d.e.f.g', 'h.b.c.d.e.f.g'],
      ['a.b.c.d.e.f.g', 'h.b.c.d.e.f.g'],
    ],
    [
      ['eip', 'network.eip'],
      ['eip', 'network.eip'],
    ],
    [['x.eip', 'x.eip'], ['eip']],
  ])('takes as many last parts as distinguish the keys: of %j %j', (keys, names) => {
    expect(namesOf(...keys)).toEqual(names);
    // The name selects the type.
    for (const [type, name] of shortTypes(keys)) expect(shortFormTest(name)(type)).toBe(true);
  });
});
