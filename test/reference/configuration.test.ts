import { describe, expect, it } from 'vitest';
import { configurationReference } from '../../scripts/reference/configuration.ts';
import { configJsonSchema } from '../../src/config/schema-problem.ts';

describe('configurationReference', () => {
  it('is what docs/configuration.md says', async () => {
    await expect(configurationReference()).toMatchFileSnapshot('../../docs/configuration.md');
  });
});

describe('configJsonSchema', () => {
  it('is what config.schema.json says', async () => {
    await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot('../../config.schema.json');
  });
});
