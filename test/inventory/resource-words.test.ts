import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortTypes } from '../../src/inventory/resource-words.ts';
import { shortFormTest } from '../../src/inventory/selection.ts';

describe('shortTypes', () => {
  const namesOf = (...keys: string[]) => [...shortTypes(keys).values()];

  it('takes the last part of a key', () => {
    expect(namesOf('resource_type.network.eip.v1.eip', 'resource_type.compute.acp.v1.trainingJob')).toEqual([
      'eip',
      'trainingJob',
    ]);
  });

  it('takes as many last parts as distinguish the keys', () => {
    expect(namesOf('x.workspace.v1.instance', 'x.aec2.v1.instance', 'x.eip')).toEqual([
      'workspace.v1.instance',
      'aec2.v1.instance',
      'eip',
    ]);
    expect(namesOf('a.b.c.d.e.f.g', 'h.b.c.d.e.f.g')).toEqual(['a.b.c.d.e.f.g', 'h.b.c.d.e.f.g']);
  });

  it('takes the whole key where it ends another one', () => {
    expect(namesOf('eip', 'network.eip')).toEqual(['eip', 'network.eip']);
  });

  it.each(['', 'plain', '3', '.', '..', 'a.', '.a', 'a..b', 'UPPER', '资源'])('has a name for the key %j', (key) => {
    const [name = expect.unreachable()] = namesOf(key);
    expect(key.endsWith(name) || name === key).toBe(true);
    expect(name === '').toBe(key === '');
  });

  it('counts a repeated key once', () => {
    expect(namesOf('x.eip', 'x.eip')).toEqual(['eip']);
  });

  it('gives each key a name of its own that is a short form of it', () => {
    const part = fc.constantFrom('a', 'b', 'v1', '', 'Instance');
    const key = fc.array(part, { minLength: 1, maxLength: 9 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
        const names = shortTypes(keys);
        expect(new Set(names.values()).size).toBe(keys.length);
        for (const [whole, name] of names) expect(name === whole || shortFormTest(name)(whole)).toBe(true);
      }),
    );
  });
});
