import { describe, expect, it } from 'vitest';
import { withFailureTable } from '../../scripts/reference/failures.ts';
import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/model/failure.ts';
import { configKeys } from '../docs/config-keys.ts';

describe('withFailureTable', () => {
  it('replaces the text between its marks with a row per reason and keeps the rest', () => {
    const made = withFailureTable(withFailureTable('# A\n').replace('| reason |', '| old |'));
    expect(made).toMatch(/^# A\n<!-- .* -->\n\n\| reason \|/);
    expect(FAILURE_REASONS.filter((reason) => !made.includes(`| \`${reason}\` |`))).toEqual([]);
    const page = `# A\n\n${made.slice(4)}\n## B\n`;
    expect(withFailureTable(page)).toBe(page);
  });
});

describe('FAILURE_ADVICE', () => {
  it('names existing configuration keys only', () => {
    const named = Object.values(FAILURE_ADVICE).flatMap(
      ({ meaning, advice }) => `${meaning} ${advice}`.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [],
    );
    expect(named).toContain('refresh_timeout');
    expect(named.filter((key) => !configKeys().has(key))).toEqual([]);
  });
});
