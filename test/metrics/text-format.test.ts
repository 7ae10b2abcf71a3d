import { describe, expect, it } from 'vitest';
import { sampleValue } from '../../src/metrics/text-format.ts';

describe('sampleValue', () => {
  it('formats numbers, infinities and NaN', () => {
    expect([0, 1.5, -2, 1e21, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(sampleValue)).toEqual(
      [...['0', '1.5', '-2', '1e+21', '+Inf', '-Inf', 'NaN']],
    );
  });
});
