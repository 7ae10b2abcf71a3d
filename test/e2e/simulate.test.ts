import { describe, expect, it } from 'vitest';
import { simulate } from './running-program.ts';
import { expectedState, stateOf } from './station-metrics.ts';
import { startReadyExporter } from './test-bed.ts';

/** The state of the only station of a simulation that is configured as it prints, without retries. */
async function stateWith(...faults: readonly string[]) {
  const { config } = await simulate('--simulate.stations=1', '--simulate.resources=30', ...faults);
  Object.assign(config.upstreams.main, { max_retries: 0, timeout: '1m' });
  const { scrape } = await startReadyExporter(config);
  return stateOf(await scrape(), 'station-1');
}

describe('simulate', () => {
  it('prints a configuration with which a station is up, or fails by the given fault', async () => {
    expect(await stateWith()).toEqual(expectedState(undefined));
    expect(await stateWith('--simulate.fault=unavailable')).toEqual(expectedState('status'));
  });
});
