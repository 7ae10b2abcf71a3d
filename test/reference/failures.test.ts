import { describe, expect, it } from 'vitest';
import { FAILURE_REASONS } from '../../src/model/failure.ts';
import { generalAdvice } from '../../src/problems/advice.ts';
import { configKeys } from '../docs/config-keys.ts';

describe('generalAdvice', () => {
  it('names existing configuration keys only', () => {
    const named = FAILURE_REASONS.map(generalAdvice).flatMap(
      ({ meaning, advice }) => `${meaning} ${advice}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [],
    );
    expect(named).toContain('refresh_timeout');
    expect(named.filter((key) => !configKeys().has(key))).toEqual([]);
  });
});
