import { describe, expect, it } from 'vitest';
import { checkLive } from '../commands/check-live.ts';
import { type ParsedFamily, valuesOf } from '../metrics/parse-exposition.ts';
import { eventually } from '../web/eventually.ts';
import { serve, simulate } from './running-program.ts';
import { startReadyExporter } from './test-bed.ts';

type Families = Map<string, ParsedFamily>;

/** What an exporter publishes of the first station of a simulation, as that configures it. */
async function rehearsed(flags: readonly string[], changes: object = {}): Promise<Families> {
  const {
    config: { upstreams, ...config },
  } = await simulate('--simulate.stations=1', '--simulate.resources=300', ...flags);
  const { scrape } = await startReadyExporter({
    ...config,
    upstreams: { main: { ...upstreams.main, page_size: 20, ...changes } },
  });
  return scrape();
}

const valueFor = (families: Families, family: string) =>
  valuesOf(families, `telemetry_station_${family}`, 'station')['station-1'];

const failures = (families: Families) => {
  const reasons = valuesOf(families, 'telemetry_station_failure', 'station', 'reason');
  return Object.entries(reasons).flatMap(([key, value]) => (value === 1 ? [key.split('|')[1]] : []));
};

describe('simulate --simulate.fault', () => {
  it('serves healthy stations without a fault', async () => {
    const families = await rehearsed([]);
    expect(valueFor(families, 'up')).toBe(1);
    expect(valueFor(families, 'listing_complete')).toBe(1);
    expect(valueFor(families, 'listing_rejected_resources')).toBe(0);
  });

  it.each([
    ['unavailable', 'status'],
    ['unauthorized', 'auth'],
    ['forbidden', 'forbidden'],
    ['not_found', 'not_found'],
    ['rate_limited', 'rate_limited'],
    ['hang', 'timeout'],
    ['reset', 'network'],
    ['html', 'body'],
  ])('%s: makes stations fail with reason %s', async (fault, reason) => {
    const families = await rehearsed([`--simulate.fault=${fault}`], {
      timeout: fault === 'hang' ? '200ms' : '1m',
      max_retries: 0,
    });
    expect(valueFor(families, 'up')).toBe(0);
    expect(failures(families)).toEqual([reason]);
  });

  it.each(['wrong_total', 'moving_total'])('%s: makes the listing incomplete', async (fault) => {
    const families = await rehearsed([`--simulate.fault=${fault}`]);
    expect([valueFor(families, 'up'), valueFor(families, 'listing_complete')]).toEqual([1, 0]);
  });

  it('rate_limited:0.2: is shown as 429 in the log, on the pages and by check --live', async () => {
    const flags = ['--simulate.stations=2', '--simulate.resources=500', '--simulate.fault=rate_limited:0.2'];
    const { config } = await simulate(...flags);
    // About a hundred requests per refresh, so that some are throttled whatever their order, and none until its retries end.
    Object.assign(config.upstreams.main, { page_size: 10, max_retries: 10, timeout: '5m', refresh_timeout: '5m' });
    const exporter = await serve(config);
    await eventually(async () => expect((await exporter.get('/-/ready')).status).toBe(200));
    const families = await exporter.scrape();
    expect(valuesOf(families, 'telemetry_station_up', 'station')).toEqual({ 'station-1': 1, 'station-2': 1 });
    expect(exporter.output().stderr).toContain('msg="upstream throttles requests" upstream=main status=429');
    expect(exporter.output().stderr).not.toContain('page size reduced');
    for (const path of ['/', '/stations/station-1']) {
      expect((await exporter.get(path)).body).toMatch(/throttled \(429\): \d+ of \d+ requests in 5 min, /);
    }
    const { code, stdout } = await checkLive(config);
    expect(code).toBe(0);
    expect(stdout).toMatch(/warning: upstream main: The service throttled \d+ of \d+ requests \(429\)/);
    expect(stdout).not.toMatch(/page size|lower page_size/);
  });

  it('missing_ids: makes the exporter reject records', async () => {
    expect(valueFor(await rehearsed(['--simulate.fault=missing_ids']), 'listing_rejected_resources')).toBeGreaterThan(
      0,
    );
  });
});

describe('simulate --simulate.auth', () => {
  const SCHEMES = ['bearer', 'basic', 'hmac', 'oauth2'] as const;
  const WRONG = {
    bearer: { authorization: { credentials: 'wrong' } },
    basic: { basic_auth: { username: 'simulated-user', password: 'wrong' } },
    hmac: { hmac: { access_key_id: 'simulated-access-key', secret_access_key: 'wrong' } },
  } as const;

  it.each(SCHEMES)('%s: the printed configuration has the credentials that the service requires', async (scheme) => {
    const families = await rehearsed([`--simulate.auth=${scheme}`]);
    expect([valueFor(families, 'up'), valueFor(families, 'listing_complete')]).toEqual([1, 1]);
  });

  it.each(['bearer', 'basic', 'hmac'] as const)('%s: other credentials are rejected', async (scheme) => {
    const families = await rehearsed([`--simulate.auth=${scheme}`], WRONG[scheme]);
    expect(valueFor(families, 'up')).toBe(0);
    expect(failures(families)).toEqual(['auth']);
  });

  it.each(SCHEMES)('%s: requests without credentials get 401, and the first line says so', async (scheme) => {
    const { output, config } = await simulate('--simulate.stations=1', `--simulate.auth=${scheme}`);
    expect(output().stdout).toMatch(
      new RegExp(`^# Simulated service on \\S+; requires the credentials below \\(${scheme}\\)\\n`),
    );
    expect((await fetch(config.upstreams.main.base_url)).status).toBe(401);
  });

  it('oauth2: a wrong client secret gets no token', async () => {
    const { config } = await simulate('--simulate.stations=1', '--simulate.auth=oauth2');
    config.upstreams.main.oauth2.client_secret = 'wrong';
    const { code, stdout, cell } = await checkLive(config);
    expect(code).toBe(1);
    expect(cell('station-1', 'AUTHENTICATION')).toBe('no credentials');
    expect(stdout).toContain('invalid_client');
    expect(stdout).not.toContain('wrong');
  });
});
