import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Fault, NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { type SimulatedService, startSimulatedService } from '../../src/simulator/service.ts';
import { expectedData } from '../e2e/reference-model.ts';
import {
  dataOf,
  expectedState,
  HEALTH_FAMILIES,
  healthOf,
  ownOf,
  reasonCounts,
  stateOf,
  withoutCounters,
} from '../e2e/station-metrics.ts';
import {
  configOf,
  type RunningExporter,
  recordsOf,
  startExporter,
  startReadyExporter,
  startTestExporter,
  startTestService,
  variedEntries,
  wireRecord,
} from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

const before = variedEntries(9);
const after = variedEntries(13).slice(4);
const steady = variedEntries(7);
const dataFor = (entries: typeof before) =>
  expectedData(recordsOf(entries), { complete: true, reported: entries.length, pages: 1 });

type Families = Awaited<ReturnType<RunningExporter['scrape']>>;

/** A failing station that keeps its last snapshot, one that keeps none, and a healthy one. */
function threeStations(upstream: string, prefix = '') {
  const at = (telemetry_station: string) => ({
    subscription: 'sub',
    resource_group: 'rg',
    zone: 'z1',
    telemetry_station,
    upstream,
  });
  return [
    { ...at(`${prefix}bad`), name: `${prefix}kept` },
    { ...at(`${prefix}bad`), name: `${prefix}unkept`, cache: { max_stale: '0s' } },
    { ...at(`${prefix}good`), name: `${prefix}good` },
  ];
}

function expectFailing(earlier: Families, families: Families, reason: string, prefix = ''): void {
  const [kept, unkept, good] = [`${prefix}kept`, `${prefix}unkept`, `${prefix}good`];
  for (const station of [kept, unkept]) {
    const [was, is] = [healthOf(earlier, station), healthOf(families, station)];
    expect(stateOf(earlier, station)).toEqual(expectedState(undefined));
    expect(stateOf(families, station)).toEqual(expectedState(reason));
    expect(dataOf(earlier, station)).toEqual(dataFor(before));
    expect(Object.keys(is).sort()).toEqual([...HEALTH_FAMILIES].sort());
    expect(is['last_success_timestamp_seconds']).toEqual(was['last_success_timestamp_seconds']);
    expect(is['info']).toEqual(was['info']);
  }
  expect(dataOf(families, kept)).toEqual(dataFor(before));
  expect(dataOf(families, unkept)).toEqual({});
  expect(stateOf(families, good)).toEqual(expectedState(undefined));
  expect(dataOf(families, good)).toEqual(dataFor(steady));
}

function expectRecovered(families: Families, prefix = ''): void {
  for (const station of [`${prefix}kept`, `${prefix}unkept`]) {
    expect(stateOf(families, station)).toEqual(expectedState(undefined));
    expect(withoutCounters(dataOf(families, station))).toEqual(withoutCounters(dataFor(after)));
  }
}

const wrongJson = (value: unknown): Fault => ({ kind: 'status', code: 200, body: JSON.stringify(value) });
const status = (code: number, more: object = {}): Fault => ({ kind: 'status', code, ...more });
/** Long enough for every request that is answered. */
const shortTimeout = { timeout: '8s' };

type Faults = Readonly<Record<string, readonly [fault: Fault, reason: string, upstream?: object]>>;

const SLOW_FAULTS: Faults = {
  'a service that hangs': [{ kind: 'hang' }, 'timeout', shortTimeout],
  'headers and no body': [{ kind: 'headersOnly' }, 'timeout', shortTimeout],
  'a dripping body': [{ kind: 'drip' }, 'timeout', shortTimeout],
  'a refresh that takes too long': [{ kind: 'hang' }, 'timeout', { refresh_timeout: '8s' }],
};

const PROMPT_FAULTS: Faults = {
  'a reset before the reply': [{ kind: 'reset' }, 'network'],
  'a reset in the body': [{ kind: 'reset', at: 'body' }, 'network'],
  'a truncated body': [{ kind: 'truncate' }, 'network'],
  'an endless body': [{ kind: 'endless' }, 'body', { max_page_bytes: '64KiB' }],
  HTML: [NAMED_FAULTS.html, 'body'],
  'malformed JSON': [NAMED_FAULTS.not_json, 'body'],
  'an empty body': [{ kind: 'status', code: 200, body: '' }, 'body'],
  'JSON that is null': [wrongJson(null), 'body'],
  'JSON that is a list': [wrongJson([wireRecord('a')]), 'body'],
  'an object without resources': [wrongJson({ page: { total: 1 } }), 'body'],
  'resources that are an object': [wrongJson({ resources: {} }), 'body'],
  'a compressed body': [{ kind: 'gzip' }, 'body'],
  'a redirect': [{ kind: 'status', code: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'status'],
  'status 204': [status(204, { body: '' }), 'body'],
  'status 401': [status(401), 'auth'],
  'status 403': [status(403), 'forbidden'],
  'status 404': [status(404), 'not_found'],
  'status 429': [status(429), 'rate_limited'],
  'status 429 with Retry-After': [status(429, { retryAfter: 1 }), 'rate_limited'],
  'status 500': [status(500), 'status'],
  'status 503 from a proxy': [
    status(503, { body: '<h1>Unavailable</h1>', headers: { 'content-type': 'text/html' } }),
    'status',
  ],
};

const LONG_TIMEOUT = { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' };

describe.each([
  ['immediately', PROMPT_FAULTS],
  ['slowly', SLOW_FAULTS],
])('Exporter, over services that fail %s', (_how, faults) => {
  let records = before;
  let service: SimulatedService;
  let exporter: RunningExporter;
  let healthy: Families;
  let failed: Families;
  let recovered: Families;

  beforeAll(async () => {
    service = await startSimulatedService({
      source: ({ telemetry_station }) => (telemetry_station.endsWith('good') ? steady : records),
    });
    const upstreams = Object.entries(faults).map(([name, [, , changes]]) => [
      name,
      configOf(service.url, [], { upstream: changes ?? {} }).upstreams.main,
    ]);
    exporter = await startExporter({
      ...configOf(service.url, []),
      upstreams: Object.fromEntries(upstreams),
      stations: Object.keys(faults).flatMap((name) => threeStations(name, name)),
    });
    healthy = await exporter.scrape('/metrics', LONG_TIMEOUT);
    records = after;
    for (const [name, [fault]] of Object.entries(faults)) service.setFaults(`${name}bad`, [fault]);
    failed = await exporter.scrape('/metrics', LONG_TIMEOUT);
    for (const name of Object.keys(faults)) service.setFaults(`${name}bad`, []);
    recovered = await exporter.scrape('/metrics', LONG_TIMEOUT);
  });

  afterAll(async () => {
    await exporter.stop();
    await service.stop();
  });

  it.each(Object.entries(faults))('reports %s, keeps the last snapshot and recovers', (name, [, reason]) => {
    expectFailing(healthy, failed, reason, name);
    expect(ownOf(failed, 'api_request_failures_total', name)).toEqual(reasonCounts({ [reason]: 2 }));
    expect(ownOf(failed, 'api_request_retries_total', name)).toEqual({ '{}': 0 });
    expectRecovered(recovered, name);
  });
});

describe('Exporter, over a service that becomes unavailable', () => {
  const startOver = async (services: { main: SimulatedService; other: SimulatedService }, upstream: object = {}) => {
    services.main.setRecords('bad', before);
    services.other.setRecords('good', steady);
    const { upstreams, ...config } = configOf(services.main.url, [], { upstream });
    const [kept, unkept, good] = threeStations('main');
    return startReadyExporter({
      ...config,
      upstreams: { ...upstreams, other: { base_url: services.other.url } },
      stations: [kept, unkept, { ...good, upstream: 'other' }],
    });
  };

  it('reports refused connections and recovers', async () => {
    const [main, other] = [await startTestService(), await startTestService()];
    const exporter = await startOver({ main, other });
    const healthy = await exporter.scrape();
    await main.stop();
    const families = await exporter.scrape();
    expectFailing(healthy, families, 'network');
    expect(ownOf(families, 'api_request_failures_total')).toEqual(reasonCounts({ network: 2 }));
    expect(ownOf(families, 'api_request_failures_total', 'other')).toEqual(reasonCounts({}));
    await main.restart();
    main.setRecords('bad', after);
    expectRecovered(await exporter.scrape());
  });
});

describe('Exporter, when part of a listing fails', () => {
  const changes = { upstream: { page_size: 4 }, station: { products: ['product.odd'], alertability: true } };

  it.each([
    ['a later page', { offset: 8 }],
    ['a listing by product', { filter: 'product' }],
    ['the listing of alertable resources', { filter: 'enabled_alert' }],
  ] as const)('keeps the last snapshot when %s fails', async (_name, when) => {
    const service = await startTestService();
    service.setRecords('ts', before);
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], changes));
    const good = await exporter.scrape();
    service.setRecords('ts', after);
    service.setFaults('ts', [{ ...status(500), when }]);
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('status'));
    expect(dataOf(families)).toEqual(dataOf(good));
  });

  it('counts no failure for requests aborted after the failure of another one', async () => {
    const service = await startTestService();
    service.setRecords('ts', variedEntries(40));
    service.setFaults('ts', [
      { kind: 'hang', when: { offset: 20 } },
      { kind: 'hang', when: { offset: 30 } },
      { ...status(403), when: { offset: 10 } },
      { kind: 'latency', ms: 100, when: { offset: 10 } },
    ]);
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { error_ttl: '1h' } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('forbidden'));
    expect(ownOf(families, 'api_requests_total')).toEqual({ '{}': 4 });
    expect(ownOf(families, 'api_request_failures_total')).toEqual(reasonCounts({ forbidden: 1 }));
    await eventually(async () => {
      expect(ownOf(await exporter.scrape(), 'api_requests_in_flight')).toEqual({ '{}': 0 });
    });
  });
});

describe('Exporter, without a current snapshot', () => {
  it('publishes only health families before the first success', async () => {
    const service = await startTestService({ faults: { ts: [status(500)] } });
    service.setRecords('ts', before);
    const exporter = await startTestExporter(configOf(service.url, ['ts']));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('status'));
    expect(dataOf(families)).toEqual({});
    expect(Object.keys(healthOf(families))).toEqual(
      HEALTH_FAMILIES.filter((family) => family !== 'last_success_timestamp_seconds'),
    );
  });

  it('publishes a refreshed station although another one is slow and max_stale is 0', async () => {
    const service = await startTestService();
    for (const station of ['quick', 'slow']) service.setRecords(station, steady);
    const changes = { cache: { max_stale: '0s' } };
    const exporter = await startReadyExporter(configOf(service.url, ['quick', 'slow'], changes));
    service.setFaults('slow', [{ kind: 'latency', ms: 1200 }]);
    const families = await exporter.scrape();
    expect(dataOf(families, 'quick')).toEqual(dataFor(steady));
    expect(dataOf(families, 'slow')).toEqual(dataFor(steady));
  });
});

describe('Exporter, retrying', () => {
  // Full jitter: the delay is random() times the backoff.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

  async function scrapeWith(faults: readonly Fault[], upstream: object) {
    const service = await startTestService({ faults: { ts: faults } });
    service.setRecords('ts', steady);
    const exporter = await startReadyExporter(
      configOf(service.url, ['ts'], { upstream, cache: { ttl: '1h', error_ttl: '1h' } }),
    );
    const families = await exporter.scrape();
    const [failures, retries] = [
      ownOf(families, 'api_request_failures_total'),
      ownOf(families, 'api_request_retries_total')['{}'],
    ];
    return { families, failures, retries, times: service.requests.map(({ atMs }) => atMs) };
  }

  it.each([
    ['a 429', status(429, { when: { first: 1 } }), 'rate_limited'],
    ['a truncated body', { kind: 'truncate', when: { first: 1 } }, 'network'],
  ] as const)('succeeds after %s', async (_name, fault, reason) => {
    const { families, failures, retries, times } = await scrapeWith([fault], { max_retries: 2 });
    expect(stateOf(families)).toEqual(expectedState(undefined));
    expect(dataOf(families)).toEqual(dataFor(steady));
    expect(times).toHaveLength(2);
    expect(failures).toEqual(reasonCounts({ [reason]: 1 }));
    expect(retries).toBe(1);
    expect(ownOf(families, 'api_requests_total')).toEqual({ '{}': 2 });
  });
});
