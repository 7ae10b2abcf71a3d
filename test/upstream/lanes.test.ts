import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../src/upstream/request-limiter.ts';

function lanesOf(items: Readonly<Record<string, readonly string[]>>): FairQueue<string> {
  const lanes = new FairQueue<string>();
  for (const [lane, names] of Object.entries(items)) for (const name of names) lanes.add(lane, name);
  return lanes;
}

function takeAll<T>(lanes: FairQueue<T>): T[] {
  const taken: T[] = [];
  for (let item = lanes.take(); item !== undefined; item = lanes.take()) taken.push(item);
  return taken;
}

describe('Lanes', () => {
  it('lets lanes take tasks, and each keeps its order', () => {
    const lanes = lanesOf({ big: ['b1', 'b2', 'b3', 'b4'], small: ['s1'], other: ['o1', 'o2'] });
    expect(takeAll(lanes)).toEqual(['b1', 's1', 'o1', 'b2', 'o2', 'b3', 'b4']);
  });

  it('gives nothing when nobody waits', () => {
    const lanes = new FairQueue<string>();
    expect(lanes.isEmpty).toBe(true);
    expect(lanes.take()).toBeUndefined();
  });

  it('lets go whoever leaves, and a lane with its last one', () => {
    const lanes = lanesOf({ a: ['a1', 'a2'], b: ['b1'] });
    lanes.delete('b', 'b1');
    lanes.delete('a', 'a1');
    lanes.delete('a', 'never there');
    lanes.delete('no such lane', 'x');
    expect([...lanes]).toEqual(['a2']);
    expect(takeAll(lanes)).toEqual(['a2']);
    expect(lanes.isEmpty).toBe(true);
  });

  it('keeps nobody waiting for more than one of each other lane, however many come', () => {
    const arrivals = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 2, max: 5 }), (names, everyNth) => {
        const lanes = new FairQueue<{ lane: string }>();
        const overtaken = new Map<string, string[]>();
        for (const [index, lane] of names.entries()) {
          // Whoever is taken overtakes all other lanes in which somebody waits.
          if (!overtaken.has(lane)) overtaken.set(lane, []);
          lanes.add(lane, { lane });
          if (index % everyNth !== 0) continue;
          const taken = lanes.take()?.lane ?? '';
          for (const [waiting, by] of overtaken) if (waiting !== taken) by.push(taken);
          const by = overtaken.get(taken) ?? [];
          expect(new Set(by).size).toBe(by.length);
          overtaken.delete(taken);
          if ([...lanes].some((item) => item.lane === taken)) overtaken.set(taken, []);
        }
      }),
    );
  });
});
