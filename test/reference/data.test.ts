import { describe, expect, it } from 'vitest';
import { dataReference } from '../../scripts/reference/data.ts';

describe('dataReference', () => {
  it('matches docs/data.md', async () => {
    await expect(dataReference()).toMatchFileSnapshot('../../docs/data.md');
  });
});
