import { describe, expect, it } from 'vitest';
import { LabelValues, OTHER_VALUE, SUPPLIED_LABELS } from '../../src/resources/label-values.ts';

describe('LabelValues', () => {
  it.each(SUPPLIED_LABELS)('keeps the first values of %s, and folds the rest', (label) => {
    const values = new LabelValues(2);
    const published = ['a', 'b', 'c', 'a', 'c', ''].map((value) => values.limited(label, value));
    expect(published).toEqual(['a', 'b', OTHER_VALUE, 'a', OTHER_VALUE, '']);
  });

  it('counts the values of each label alone', () => {
    const values = new LabelValues(1);
    expect(SUPPLIED_LABELS.map((label) => values.limited(label, label))).toEqual(SUPPLIED_LABELS);
  });

  it('keeps alert states that are known, however many others there are', () => {
    const values = new LabelValues(1);
    expect(['x', 'y', 'ALERTSTATE_FIRING', ''].map((state) => values.limited('state', state))).toEqual([
      'x',
      OTHER_VALUE,
      'ALERTSTATE_FIRING',
      '',
    ]);
  });
});
