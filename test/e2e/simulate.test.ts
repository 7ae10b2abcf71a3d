import { describe, expect, it } from 'vitest';
import { checkLive } from '../commands/check-live.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { eventually } from '../web/eventually.ts';
import { serve, simulate } from './running-program.ts';
import { startReadyExporter } from './test-bed.ts';

/** What becomes of the only station of a simulation that is configured as it prints: the reason of its failure, or whether its listing is complete. */
async function outcomeWith(flag: string, changes: object = {}): Promise<string | undefined> {
  const { config } = await simulate('--simulate.stations=1', '--simulate.resources=300', ...(flag ? [flag] : []));
  Object.assign(config.upstreams.main, { page_size: 20, max_retries: 0, timeout: '1m', ...changes });
  const { scrape } = await startReadyExporter(config);
  const families = await scrape();
  const valuesFor = (family: string, label: string) => Object.entries(valuesOf(families, family, label));
  const failing = valuesFor('telemetry_station_failure', 'reason').find(([, value]) => value === 1);
  const [[, complete] = []] = valuesFor('telemetry_station_listing_complete', 'station');
  return failing?.[0] ?? (complete === 1 ? 'complete' : 'incomplete');
}

describe('simulate', () => {
  it.each<[flag: string, outcome: string, upstream?: object]>([
    ['', 'complete'],
    ['--simulate.fault=unavailable', 'status'],
    ['--simulate.fault=rate_limited', 'rate_limited'],
    ['--simulate.fault=hang', 'timeout', { timeout: '200ms' }],
    ['--simulate.fault=wrong_total', 'incomplete'],
    ['--simulate.auth=bearer', 'complete'],
    ['--simulate.auth=bearer', 'auth', { authorization: { credentials: 'wrong' } }],
    ['--simulate.auth=basic', 'complete'],
    ['--simulate.auth=basic', 'auth', { basic_auth: { username: 'simulated-user', password: 'wrong' } }],
    ['--simulate.auth=hmac', 'complete'],
    ['--simulate.auth=hmac', 'auth', { hmac: { access_key_id: 'simulated-access-key', secret_access_key: 'wrong' } }],
    ['--simulate.auth=oauth2', 'complete'],
  ])('%s prints a configuration with which a station is: %s', async (flag, outcome, changes) => {
    expect(await outcomeWith(flag, changes)).toBe(outcome);
  });

  it('with rate_limited:0.2 is shown as throttling in the log, on the pages and by check --live', async () => {
    const flags = ['--simulate.stations=2', '--simulate.resources=150', '--simulate.fault=rate_limited:0.2'];
    const { config } = await simulate(...flags);
    // About fifty requests per refresh, so that some are throttled whatever their order, and none until its retries end.
    Object.assign(config.upstreams.main, { page_size: 10, max_retries: 10, timeout: '5m', refresh_timeout: '5m' });
    const exporter = await serve(config);
    // A throttled refresh may take longer than a scrape waits.
    await eventually(async () =>
      expect(valuesOf(await exporter.scrape(), 'telemetry_station_up', 'station')).toEqual({
        'station-1': 1,
        'station-2': 1,
      }),
    );
    expect(exporter.output().stderr).toContain('msg="upstream throttles requests" upstream=main status=429');
    expect(exporter.output().stderr).not.toContain('page size reduced');
    for (const path of ['/', '/stations/station-1']) {
      expect((await exporter.get(path)).body).toMatch(/throttled: \d+ of \d+ requests in 5 min\b/);
    }
    const { code, stdout } = await checkLive(config);
    expect(code).toBe(0);
    expect(stdout).toMatch(/warning: upstream main: The service throttled \d+ of \d+ requests \(429\)/);
    expect(stdout).not.toMatch(/page size reduced|lower page_size/);
  });
});
