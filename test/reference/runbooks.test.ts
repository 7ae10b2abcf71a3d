import { describe, expect, it } from 'vitest';
import { runbookIndex } from '../../scripts/reference/runbooks.ts';

describe('runbookIndex', () => {
  it('matches docs/runbooks/README.md', async () => {
    await expect(runbookIndex()).toMatchFileSnapshot('../../docs/runbooks/README.md');
  });
});
