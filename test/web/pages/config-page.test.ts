import { describe, expect, it } from 'vitest';
import { plainText, startApp } from '../running-app.ts';

describe('configPage', () => {
  it('shows the configuration in force as plain text', async () => {
    const { ask } = await startApp({ configuration: () => 'token: <secret>\nname: größe\n' });
    expect(await ask('/config')).toEqual(plainText(200, 'token: <secret>\nname: größe\n'));
  });
});
