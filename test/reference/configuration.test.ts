import { describe, expect, it } from 'vitest';
import { configurationReference, publishedSchema } from '../../scripts/reference/configuration.ts';

describe('configurationReference', () => {
  it('matches docs/configuration.md', async () => {
    await expect(configurationReference()).toMatchFileSnapshot('../../docs/configuration.md');
  });
});

describe('publishedSchema', () => {
  it('matches config.schema.json', async () => {
    await expect(`${JSON.stringify(publishedSchema(), null, 2)}\n`).toMatchFileSnapshot('../../config.schema.json');
  });
});
