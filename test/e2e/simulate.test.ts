import { describe, expect, it } from 'vitest';
import { simulate } from './running-program.ts';
import { expectedState, stateOf } from './station-metrics.ts';
import { startReadyExporter } from './test-bed.ts';

/** The state of the only station of a simulation that is configured as it prints, except for these changes. */
async function stateWith(flag: string, changes: object = {}) {
  const { config } = await simulate('--simulate.stations=1', '--simulate.resources=30', flag);
  Object.assign(config.upstreams.main, { max_retries: 0, timeout: '1m', ...changes });
  const { scrape } = await startReadyExporter(config);
  return stateOf(await scrape(), 'station-1');
}

describe('simulate', () => {
  it.each<[flag: string, reason: string | undefined, changes?: object]>([
    ['--simulate.fault=unavailable', 'status'],
    ['--simulate.auth=bearer', undefined],
    ['--simulate.auth=bearer', 'auth', { authorization: { credentials: 'wrong' } }],
    ['--simulate.auth=basic', undefined],
    ['--simulate.auth=basic', 'auth', { basic_auth: { username: 'simulated-user', password: 'wrong' } }],
    ['--simulate.auth=hmac', undefined],
    ['--simulate.auth=oauth2', undefined],
  ])('%s prints a configuration with which the failure of a station is: %s', async (flag, reason, changes) => {
    expect(await stateWith(flag, changes)).toEqual(expectedState(reason));
  });
});
