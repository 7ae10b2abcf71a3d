import { describe, expect, it } from 'vitest';
import type { AuthCheck } from '../../src/simulator/auth.ts';
import type { Fault } from '../../src/simulator/faults.ts';
import { expectedState, ownOf, stateOf } from '../e2e/station-metrics.ts';
import {
  configOf,
  entriesOf,
  type RunningExporter,
  startReadyExporter,
  startTestExporter,
  startTestService,
} from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

const own = async (exporter: RunningExporter, family: string) => ownOf(await exporter.scrape(), family)['{}'];

const logged = (exporter: RunningExporter, message: string) =>
  exporter.log.filter((line) => line.includes(`msg="${message}`));

describe('the request rate', () => {
  it('is unlimited without requests_per_second, else limited to it', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const free = await startReadyExporter(configOf(service.url, ['a']));
    expect(await own(free, 'api_rate_limit')).toBe(Number.POSITIVE_INFINITY);
    expect(await (await free.get('/metrics')).text()).toContain('_api_rate_limit{upstream="main"} +Inf\n');
    const bound = await startReadyExporter(configOf(service.url, ['a'], { upstream: { requests_per_second: 500 } }));
    expect(await own(bound, 'api_rate_limit')).toBe(500);
  });

  it('is lowered when requests are throttled again and again', async () => {
    const service = await startTestService({
      source: () => entriesOf(3),
      faults: { ts: [{ kind: 'status', code: 429 }] },
    });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream: { max_retries: 2 } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('rate_limited'));
    expect(ownOf(families, 'api_requests_throttled_total')['{}']).toBeGreaterThanOrEqual(3);
    await eventually(async () => expect(await own(exporter, 'api_rate_limit')).toBeLessThan(10));
  });

  it('is not lowered by one 429 among many replies', async () => {
    const service = await startTestService({
      source: () => entriesOf(60),
      faults: { ts: [{ kind: 'status', code: 429, when: { first: 1 } }] },
    });
    const exporter = await startReadyExporter(
      configOf(service.url, ['ts'], { upstream: { page_size: 10, max_retries: 2 } }),
    );
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState(undefined));
    expect(ownOf(families, 'api_requests_throttled_total')).toEqual({ '{}': 1 });
    expect(ownOf(families, 'api_rate_limit')).toEqual({ '{}': Number.POSITIVE_INFINITY });
  });

  it.each([429, 503])(
    'is zero until the time of a Retry-After with a %i: no station is requested, and none with data fails',
    async (code) => {
      const service = await startTestService({ source: () => entriesOf(3) });
      const exporter = await startReadyExporter(
        configOf(service.url, ['a', 'b'], { upstream: { refresh_timeout: '30s', max_retries: 2 } }),
      );
      service.setFaults('a', [{ kind: 'status', code, retryAfter: 200 }]);
      service.clearRequests();
      for (const station of ['a', 'b']) {
        const families = await exporter.scrape(`/probe?station=${station}`);
        expect(stateOf(families, station)).toEqual(expectedState(undefined));
        expect(families.get('telemetry_station_resource_info')?.samples).toHaveLength(3);
      }
      expect(service.requests.map(({ station }) => station)).toEqual(['a']);
      expect(logged(exporter, 'refresh postponed')).not.toEqual([]);
    },
  );

  it('is given to refreshes that have started before others start', async () => {
    const service = await startTestService({ source: () => entriesOf(25) });
    service.setRecords('big', entriesOf(500));
    const config = configOf(service.url, ['big', 'small-1', 'small-2'], {
      upstream: { concurrency: 1 },
      cache: { ttl: '1h' },
    });
    const exporter = await startTestExporter(config);
    await eventually(async () => expect((await exporter.get('/-/ready')).status).toBe(200));
    const order = service.requests.map(({ station }) => station);
    expect(order.filter((station) => station === 'big')).toHaveLength(50);
    expect(order.filter((station, index) => station !== order[index - 1])).toHaveLength(3);
  });
});

describe('the page size', () => {
  const tooLarge = (code: number, first?: number): Fault[] => [
    { kind: 'status', code, ...(first && { when: { first } }) },
  ];
  const upstream = { page_size: 100, concurrency: 100 };
  const sizesOf = (requests: readonly { offset: number | undefined; size: number | undefined }[]) =>
    requests.map(({ offset, size }) => [offset, size]);

  it('is halved for the rest of a refresh after a 413, without losing records', async () => {
    const service = await startTestService({ source: () => entriesOf(60), faults: { ts: tooLarge(413, 2) } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream, cache: { ttl: '1h' } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState(undefined));
    expect(families.get('telemetry_station_resource_info')?.samples).toHaveLength(60);
    expect(families.get('telemetry_station_listing_complete')?.samples[0]?.value).toBe(1);
    expect(families.get('telemetry_station_listing_duplicate_resources')?.samples[0]?.value).toBe(0);
    const sizes = sizesOf(service.requests);
    expect(sizes.slice(0, 3)).toEqual([
      [0, 100],
      [0, 50],
      [0, 25],
    ]);
    expect(sizes.slice(3).toSorted()).toEqual([
      [25, 25],
      [50, 25],
    ]);
    expect(ownOf(families, 'page_size_reductions_total')).toEqual({ '{}': 2 });
    expect(ownOf(families, 'api_request_retries_total')).toEqual({ '{}': 2 });
    expect(logged(exporter, 'page size reduced').map((line) => line.replace(/.* station=/, 'station='))).toEqual([
      'station=ts page_size=50\n',
      'station=ts page_size=25\n',
    ]);
    expect(exporter.log[0]).toContain('level=warn');
  });

  it('is reset by the next refresh', async () => {
    const service = await startTestService({ source: () => entriesOf(60), faults: { ts: tooLarge(413, 1) } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream }));
    service.clearRequests();
    await exporter.scrape();
    expect(sizesOf(service.requests)).toEqual([[0, 100]]);
  });

  it.each([
    [413, 'status', [100, 50, 25, 12, 10]],
    [429, 'rate_limited', [100, 100, 100]],
  ])(
    'is not reduced below ten by a %i, nor at all by a 429, which fail with reason %s',
    async (code, reason, sizes) => {
      const service = await startTestService({ source: () => entriesOf(60), faults: { ts: tooLarge(code) } });
      const exporter = await startReadyExporter(
        configOf(service.url, ['ts'], { upstream: { ...upstream, max_retries: 2 }, cache: { error_ttl: '1h' } }),
      );
      expect(stateOf(await exporter.scrape())).toEqual(expectedState(reason));
      expect(service.requests.map(({ size }) => size)).toEqual(sizes);
    },
  );
});

describe('a clock difference', () => {
  const hmac = { access_key_id: 'AK', secret_access_key: 's3cret-key', signed_headers: ['x-date'] };
  const auth = { scheme: 'hmac', accessKeyId: 'AK', secretAccessKey: 's3cret-key', signedHeaders: ['x-date'] } as const;
  const failureOf = async (aheadMs: number, check: AuthCheck) => {
    const service = await startTestService({
      source: () => entriesOf(3),
      now: () => Date.now() + aheadMs,
      auth: check,
    });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream: { hmac } }));
    expect(stateOf(await exporter.scrape())).toEqual(expectedState('auth'));
    const page = await (await exporter.get('/')).text();
    return { page, log: exporter.log.join('') };
  };

  it.each([
    [600_000, /the local clock is (599|60\d) s behind the service/],
    [-600_000, /the local clock is (599|60\d) s ahead of the service/],
  ])('is reported in the log and on the status page when a signature is rejected (%i ms)', async (aheadMs, hint) => {
    const { page, log } = await failureOf(aheadMs, auth);
    expect(log).toMatch(hint);
    expect(page).toMatch(hint);
  });

  it('is not reported for a wrong key', async () => {
    const { page, log } = await failureOf(30_000, { ...auth, secretAccessKey: 'another' });
    expect(log).toContain('reason=auth');
    expect(log + page).not.toContain('the local clock');
  });
});
