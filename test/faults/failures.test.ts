import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, NAMED_FAULTS, replyWith, slow } from '../../src/simulator/faults.ts';
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
  startTestService,
  variedEntries,
} from '../e2e/test-bed.ts';
import {
  atOffset,
  type Condition,
  resetWithinBody,
  type SimulatedService,
  startSimulatedService,
} from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';

const before = variedEntries(9);
const after = variedEntries(13).slice(4);
const steady = variedEntries(7);
const dataFor = (entries: typeof before) => expectedData(recordsOf(entries), { reported: entries.length, pages: 1 });

type Families = Awaited<ReturnType<RunningExporter['scrape']>>;

/** A failing station that keeps its last snapshot, one that keeps none, and a healthy one, all at one upstream. */
function threeStations(upstream: string) {
  const at = (telemetry_station: string) => ({
    subscription: 'sub',
    resource_group: 'rg',
    zone: 'z1',
    telemetry_station,
    upstream,
  });
  return [
    { ...at(`${upstream}bad`), name: `${upstream}kept` },
    { ...at(`${upstream}bad`), name: `${upstream}unkept`, cache: { max_stale: '0s' } },
    at(`${upstream}good`),
  ];
}

function expectFailing(earlier: Families, families: Families, reason: string, upstream: string): void {
  const [kept, unkept, good] = [`${upstream}kept`, `${upstream}unkept`, `${upstream}good`];
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

function expectRecovered(families: Families, upstream: string): void {
  for (const station of [`${upstream}kept`, `${upstream}unkept`]) {
    expect(stateOf(families, station)).toEqual(expectedState(undefined));
    expect(withoutCounters(dataOf(families, station))).toEqual(withoutCounters(dataFor(after)));
  }
}

/** Long enough for every request that is answered. */
const shortTimeout = { timeout: '8s' };

/** One fault of each kind; which fault has which reason is tested with the client that reads the replies. */
const FAULTS: Readonly<Record<string, readonly [fault: Fault, reason: string, upstream?: object]>> = {
  'a service that hangs': [NAMED_FAULTS.hang, 'timeout', shortTimeout],
  'a refresh that takes too long': [NAMED_FAULTS.hang, 'timeout', { refresh_timeout: '8s' }],
  'a reset in the body': [resetWithinBody, 'network'],
  'an endless body': [NAMED_FAULTS.endless, 'body', { max_page_bytes: '64KiB' }],
  'an object without resources': [replyWith(200, {}, '{"page":{"total":1}}'), 'body'],
  'status 401': [replyWith(401), 'auth'],
  'status 429 with Retry-After': [replyWith(429, { 'retry-after': '1' }), 'rate_limited'],
  'status 503 from a proxy': [replyWith(503, { 'content-type': 'text/html' }, '<h1>Unavailable</h1>'), 'status'],
};

const LONG_TIMEOUT = { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' };

describe('Exporter, over services that fail', () => {
  let records = before;
  let service: SimulatedService;
  let exporter: RunningExporter;
  let healthy: Families;
  let failed: Families;

  beforeAll(async () => {
    service = await startSimulatedService({
      source: ({ telemetry_station }) => (telemetry_station.endsWith('good') ? steady : records),
    });
    const upstreams = Object.entries(FAULTS).map(([name, [, , changes]]) => [
      name,
      configOf(service.url, [], { upstream: changes ?? {} }).upstreams.main,
    ]);
    exporter = await startExporter({
      ...configOf(service.url, []),
      upstreams: Object.fromEntries(upstreams),
      stations: Object.keys(FAULTS).flatMap(threeStations),
    });
    healthy = await exporter.scrape('/metrics', LONG_TIMEOUT);
    records = after;
    for (const [name, [fault]] of Object.entries(FAULTS)) service.setFaults(`${name}bad`, [fault]);
    failed = await exporter.scrape('/metrics', LONG_TIMEOUT);
    for (const name of Object.keys(FAULTS)) service.setFaults(`${name}bad`, []);
    // A scrape waits only briefly for stations that hung.
    await eventually(async () => {
      const recovered = await exporter.scrape('/metrics', LONG_TIMEOUT);
      for (const name of Object.keys(FAULTS)) expectRecovered(recovered, name);
    });
  });

  afterAll(async () => {
    await exporter.stop();
    await service.stop();
  });

  it.each(Object.entries(FAULTS))('reports %s, keeps the last snapshot and recovers', (name, [, reason]) => {
    expectFailing(healthy, failed, reason, name);
    expect(ownOf(failed, 'api_request_failures_total', name)).toEqual(reasonCounts({ [reason]: 2 }));
    expect(ownOf(failed, 'api_request_retries_total', name)).toEqual({ '{}': 0 });
  });
});

describe('Exporter, when part of a listing fails', () => {
  const changes = { upstream: { page_size: 4 }, station: { products: ['product.odd'], alertability: true } };

  it.each<[string, Condition]>([
    ['a later page', atOffset(8)],
    ['a listing by product', ({ filters }) => 'product' in filters],
    ['the listing of alertable resources', ({ filters }) => 'enabled_alert' in filters],
  ])('keeps the last snapshot when %s fails', async (_name, when) => {
    const service = await startTestService();
    service.setRecords('ts', before);
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], changes));
    const good = await exporter.scrape();
    service.setRecords('ts', after);
    service.setFaults('ts', [{ ...replyWith(500), when }]);
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('status'));
    expect(dataOf(families)).toEqual(dataOf(good));
  });

  it('counts no failure for requests aborted after the failure of another one', async () => {
    const service = await startTestService();
    service.setRecords('ts', variedEntries(40));
    service.setFaults('ts', [
      { ...NAMED_FAULTS.hang, when: atOffset(20) },
      { ...NAMED_FAULTS.hang, when: atOffset(30) },
      { ...replyWith(403), when: atOffset(10) },
      { ...slow(100), when: atOffset(10) },
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

describe('Exporter, when the body of an error names another status', () => {
  it('shows the status of the reply and its advice, not those of the text', async () => {
    const service = await startTestService({ faults: { ts: [replyWith(520, {}, 'origin returned 404 Not Found')] } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts']));
    await exporter.scrape();
    for (const path of ['/', '/stations/ts']) {
      const page = await exporter.get(path, { accept: 'text/html' });
      const { text } = parseHtml(await page.text());
      expect(text).toContain('answered 520: origin returned 404 Not Found');
      expect(text).toContain('This is a failure of the service');
      expect(text).not.toContain('base_url is wrong');
    }
  });
});
