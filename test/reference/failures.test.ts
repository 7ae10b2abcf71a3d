import { describe, expect, it } from 'vitest';
import { FAILURE_ADVICE } from '../../src/model/failure.ts';
import { configKeys } from '../docs/config-keys.ts';

describe('FAILURE_ADVICE', () => {
  it('names existing configuration keys only', () => {
    const named = Object.values(FAILURE_ADVICE).flatMap(
      ({ meaning, advice }) => `${meaning} ${advice}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [],
    );
    expect(named).toContain('refresh_timeout');
    expect(named.filter((key) => !configKeys().has(key))).toEqual([]);
  });
});
