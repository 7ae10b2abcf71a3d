import { describe, expect, it } from 'vitest';
import { flagsReference } from '../../scripts/reference/flags.ts';

describe('flagsReference', () => {
  it('matches docs/flags.md', async () => {
    await expect(flagsReference()).toMatchFileSnapshot('../../docs/flags.md');
  });
});
