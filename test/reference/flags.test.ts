import { describe, expect, it } from 'vitest';
import { flagsReference } from '../../scripts/reference/flags.ts';

describe('flagsReference', () => {
  it('is what docs/flags.md says', async () => {
    await expect(flagsReference()).toMatchFileSnapshot('../../docs/flags.md');
  });
});
