import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LabelValues, OTHER_VALUE } from '../../src/refresh/label-values.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('LabelValues', () => {
  it('keeps the first values of each label, and folds the rest', () => {
    const values = new LabelValues(2);
    expect(['a', 'b', 'c', 'a', 'c', ''].map((type) => values.type(type))).toEqual([
      'a',
      'b',
      OTHER_VALUE,
      'a',
      OTHER_VALUE,
      '',
    ]);
    expect(['a', 'x', 'y', 'x'].map((state) => values.state('a', state))).toEqual(['a', 'x', OTHER_VALUE, 'x']);
    expect(['GPU', 'GiB', 'TiB'].map((unit) => values.quantity('a', '', unit))).toEqual([
      { gpuModel: '', unit: 'GPU' },
      { gpuModel: '', unit: 'GiB' },
      { gpuModel: '', unit: OTHER_VALUE },
    ]);
  });

  it('publishes at most ten combinations for each allowed value', () => {
    const values = new LabelValues(100);
    const series = new Set<string>();
    const quantities = new Set<string>();
    for (const type of numbers(200)) {
      for (const state of numbers(200)) {
        const published = values.type(`type ${type}`);
        series.add(`${published} ${values.state(published, `state ${state}`)}`);
        const { gpuModel, unit } = values.quantity(published, `model ${state}`, `unit ${type}`);
        quantities.add(`${published} ${gpuModel} ${unit}`);
      }
    }
    // And (other) for each type.
    expect(series.size).toBeLessThanOrEqual(1000 + 101);
    expect(quantities.size).toBeLessThanOrEqual(1000 + 101);
    const published = ['state 90', 'state 91', ''].map((state) => values.state('type 9', state));
    expect(published).toEqual(['state 90', OTHER_VALUE, '']);
    expect(values.quantity('type 99', 'model 3', '')).toEqual({ gpuModel: OTHER_VALUE, unit: OTHER_VALUE });
  });

  it('keeps alert states that are known, however many others there are', () => {
    const values = new LabelValues(1);
    expect(['x', 'y', 'ALERTSTATE_FIRING', ''].map((state) => values.state('a', state))).toEqual([
      'x',
      OTHER_VALUE,
      'ALERTSTATE_FIRING',
      '',
    ]);
  });

  it('publishes a value always in the same way, whatever comes in between', () => {
    const small = fc.integer({ min: 0, max: 6 }).map(String);
    fc.assert(
      fc.property(fc.array(fc.tuple(small, small, small)), fc.integer({ min: 1, max: 3 }), (resources, limit) => {
        const values = new LabelValues(limit);
        const published = new Map<string, string>();
        for (const [type, state, unit] of resources) {
          const folded = values.type(type);
          const labels = JSON.stringify([folded, values.state(folded, state), values.quantity(folded, state, unit)]);
          const key = [type, state, unit].join();
          expect(labels).toBe(published.get(key) ?? labels);
          published.set(key, labels);
        }
      }),
    );
  });
});
