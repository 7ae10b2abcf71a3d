import { describe, expect, it } from 'vitest';
import { type FurtherCollector, stationCollectors } from '../../src/collectors/collectors.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import { CompressorPool } from '../../src/exposition/segment.ts';
import type { Deadline } from '../../src/model/clock.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import type { RefreshContext, StationSource } from '../../src/model/listing.ts';
import type { Resources } from '../../src/resources/collector.ts';
import { STATION_FAMILIES } from '../../src/resources/families.ts';
import { InternedTexts } from '../../src/resources/interned-texts.ts';
import { RequestFailure } from '../../src/service/request-failure.ts';
import { stationSource } from '../../src/service/station-source.ts';
import { Fleet } from '../../src/stations/fleet.ts';
import { StationCache, type StationView } from '../../src/stations/station-cache.ts';
import { SerialQueue } from '../../src/tasks/serial-queue.ts';
import { CLIENT_OPTIONS, servedClient } from '../service/support/client.ts';
import { sourceOf } from '../service/support/listing-source.ts';
import { ManualClock, specOf } from './fixtures.ts';
import { silenceCollector } from './silences/collector.ts';
import { SILENCE_FAMILIES } from './silences/families.ts';

/** The line that a second listing takes in src/collectors/collectors.ts. */
const FURTHER: readonly FurtherCollector[] = [{ families: Object.values(SILENCE_FAMILIES), create: silenceCollector }];

const EXPOSITION_FAMILIES = [...Object.values(STATION_FAMILIES), ...FURTHER.flatMap(({ families }) => families)];

const MINUTE_MS = 60_000;

const FOREVER: Deadline = { atMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

const FORBIDDEN = new RequestFailure('forbidden', 'HTTP 403: not for you', { status: 403 });

const UNAVAILABLE = new RequestFailure('status', 'HTTP 500', { status: 500 });

async function linesOf(views: readonly StationView<Resources>[]): Promise<readonly string[]> {
  const exposition = new Exposition(EXPOSITION_FAMILIES, new Set());
  const chunks: Uint8Array[] = [];
  for await (const chunk of exposition.stationBody(views, 'text').plain()) chunks.push(chunk);
  return Buffer.concat(chunks).toString().split('\n');
}

/** What the service does, and may stop doing. */
interface Service {
  resources: readonly unknown[];
  silences: readonly unknown[];
  /** By the last part of the path. */
  failures: { resources?: Error | undefined; silences?: Error | undefined };
  /** Never replies to requests for silences. */
  isHanging: boolean;
}

/** A station of two resources that also has silences, scraped once a minute. */
function stationWith(changes: Partial<Service> = {}, spec = specOf()) {
  const service: Service = {
    resources: [{ resource_id: 'a' }, { resource_id: 'b' }],
    silences: silencesOf(2),
    failures: {},
    isHanging: false,
    ...changes,
  };
  const { source, requests } = sourceOf(({ path, offset, size }) => {
    const field = path.includes('/resources?') ? 'resources' : 'silences';
    const failure = service.failures[field];
    if (failure) throw failure;
    const list = service[field];
    return JSON.stringify({ [field]: list.slice(offset, offset + size), page: { total: list.length } });
  });
  let timeOut = () => {};
  const hanging = (context: RefreshContext) =>
    new Promise<never>((_, reject) => {
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
      timeOut = () => reject(new ListingFailure('timeout', 'no reply'));
    });
  const newSource = (): StationSource => ({
    lister: (kind) => {
      const list = source.lister(kind);
      return (filters, context) => {
        context.started();
        return service.isHanging && kind.name === 'silences' ? hanging(context) : list(filters, context);
      };
    },
  });
  const clock = new ManualClock();
  const cacheWith = (next: Partial<typeof spec> = {}) => {
    const nextSpec = { ...spec, ...next };
    const tools = { newSource, texts: new InternedTexts(), compressors: new CompressorPool(1) };
    return new StationCache<Resources>(nextSpec, { ...stationCollectors(nextSpec, tools, FURTHER), clock });
  };
  let cache = cacheWith();
  /** A scrape a minute later; or at once, with the deadline. */
  const scrape = async (deadline?: Deadline) => {
    if (deadline === undefined) clock.advance(MINUTE_MS);
    return linesOf(await new Fleet([cache]).read(deadline ?? FOREVER));
  };
  const reload = (next: Partial<typeof spec>) => {
    const replaced = cache;
    cache = cacheWith(next);
    cache.replace(replaced, true);
    replaced.close();
  };
  const now = async () => linesOf([cache.view()]);
  return { service, requests, clock, scrape, reload, now, current: () => cache, timeOut: () => timeOut() };
}

const silencesOf = (count: number) => Array.from({ length: count }, (_, at) => ({ silence_id: `s${at}` }));

const LABELS = '{station="prod",upstream="main"';

const UP = `telemetry_station_up${LABELS}} 1`;
const DOWN = `telemetry_station_up${LABELS}} 0`;
const silences = (count: number) => `telemetry_station_silences${LABELS}} ${count}`;
const verified = (count: number) => `telemetry_station_verified_resources${LABELS}} ${count}`;
const collectorUp = (collector: string, up: number) =>
  `telemetry_station_collector_up${LABELS},collector="${collector}"} ${up}`;
const failedFor = (collector: string, reason: string) =>
  `telemetry_station_collector_failure${LABELS},collector="${collector}",reason="${reason}"} 1`;
const lastSuccess = (collector: string, ms: number) =>
  `telemetry_station_collector_last_success_timestamp_seconds${LABELS},collector="${collector}"} ${ms / 1000}`;

const linesWith = (lines: readonly string[], start: string) => lines.filter((line) => line.startsWith(start));

describe('a second listing', () => {
  it('is read page by page, and published with its completeness beside the resources', async () => {
    const { requests, scrape } = stationWith({ silences: silencesOf(25) });
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining([UP, silences(25), verified(2)]));
    expect(lines).toContain(`telemetry_station_silences_complete${LABELS}} 1`);
    expect(requests.filter(({ path }) => path.includes('/silences?')).map(({ offset }) => offset)).toEqual([0, 10, 20]);
  });

  it('says which of its records are rejected', async () => {
    const { scrape } = stationWith({ silences: [...silencesOf(3), { silence_id: 5 }] });
    const lines = await scrape();
    expect(lines).toContain(silences(3));
    expect(lines).toContain(`telemetry_station_silences_complete${LABELS}} 0`);
    expect(lines).toContain(`telemetry_station_silences_incomplete${LABELS},reason="rejected_records"} 1`);
    expect(lines).toContain(`telemetry_station_listing_complete${LABELS}} 1`);
  });

  it('has the health of each collector, which a station with one does not have', async () => {
    const station = stationWith();
    const before = await station.now();
    expect(before).toContain(failedFor('silences', 'not_tried'));
    const lines = await station.scrape();
    expect(linesWith(lines, 'telemetry_station_collector_up')).toEqual([
      collectorUp('resources', 1),
      collectorUp('silences', 1),
    ]);
    const [view] = await new Fleet([station.current()]).read(FOREVER);
    const alone = await linesOf(view ? [{ ...view, further: [] }] : []);
    expect(alone).toContain(UP);
    expect(alone.join()).not.toContain('telemetry_station_collector');
  });

  it('that fails keeps its data and has its reason, while the resources are refreshed', async () => {
    const { service, clock, scrape } = stationWith();
    await scrape();
    const succeededMs = clock.wallMs();
    service.failures.silences = FORBIDDEN;
    service.resources = [{ resource_id: 'a' }];
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining([UP, verified(1), silences(2)]));
    expect(linesWith(lines, `telemetry_station_failure${LABELS}`).every((line) => line.endsWith(' 0'))).toBe(true);
    expect(lines).toEqual(
      expect.arrayContaining([
        collectorUp('resources', 1),
        collectorUp('silences', 0),
        failedFor('silences', 'forbidden'),
        lastSuccess('resources', clock.wallMs()),
        lastSuccess('silences', succeededMs),
      ]),
    );
    service.failures.silences = undefined;
    service.silences = silencesOf(3);
    expect(await scrape()).toEqual(expect.arrayContaining([collectorUp('silences', 1), silences(3)]));
  });

  it('is refreshed while the resources fail', async () => {
    const { service, scrape } = stationWith();
    await scrape();
    service.failures.resources = FORBIDDEN;
    service.silences = silencesOf(3);
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining([DOWN, verified(2), silences(3)]));
    expect(lines).toContain(`telemetry_station_failure${LABELS},reason="forbidden"} 1`);
    expect(lines).toEqual(expect.arrayContaining([collectorUp('resources', 0), collectorUp('silences', 1)]));
  });

  it('and the resources keep their data, each with its own reason, when both fail', async () => {
    const { service, scrape } = stationWith();
    await scrape();
    service.failures = { resources: UNAVAILABLE, silences: FORBIDDEN };
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining([DOWN, verified(2), silences(2)]));
    expect(lines).toEqual(
      expect.arrayContaining([failedFor('resources', 'status'), failedFor('silences', 'forbidden')]),
    );
  });

  it.each([
    { failing: 'silences', published: verified(2), missing: 'telemetry_station_silences', up: UP },
    { failing: 'resources', published: silences(2), missing: 'telemetry_station_verified_resources', up: DOWN },
  ] as const)('is published whatever the other does since the start: $failing fail', async (row) => {
    const { scrape } = stationWith({ failures: { [row.failing]: FORBIDDEN } });
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining([row.up, row.published, collectorUp(row.failing, 0)]));
    expect(linesWith(lines, row.missing)).toEqual([]);
  });

  it.each([
    { failing: 'silences', published: verified(2), missing: 'telemetry_station_silences', up: UP },
    { failing: 'resources', published: silences(2), missing: 'telemetry_station_verified_resources', up: DOWN },
  ] as const)('expires by itself, max_stale after its first failure: $failing fail', async (row) => {
    const { service, scrape } = stationWith();
    await scrape();
    service.failures = { [row.failing]: FORBIDDEN };
    for (let minute = 1; minute <= 15; minute += 1)
      expect(linesWith(await scrape(), `${row.missing}{`)).toHaveLength(1);
    const lines = await scrape();
    expect(linesWith(lines, row.missing)).toEqual([]);
    expect(lines).toEqual(expect.arrayContaining([row.up, row.published]));
  });

  it('keeps its data and its health after a reload, until its own next success', async () => {
    const { service, scrape, reload, now } = stationWith();
    await scrape();
    service.failures.silences = FORBIDDEN;
    await scrape();
    reload({ refreshTimeoutMs: 60_000 });
    expect(await now()).toEqual(
      expect.arrayContaining([silences(2), collectorUp('silences', 0), failedFor('silences', 'forbidden')]),
    );
    service.failures = { resources: UNAVAILABLE };
    service.silences = silencesOf(5);
    expect(await scrape()).toEqual(expect.arrayContaining([DOWN, verified(2), silences(5)]));
  });

  it('that hangs delays no refresh of the resources, and is not waited for again', async () => {
    const station = stationWith();
    const { service, clock, scrape, current } = station;
    await scrape();
    service.isHanging = true;
    service.resources = [{ resource_id: 'a' }];
    clock.advance(MINUTE_MS);
    const waiting = new AbortController();
    const first = scrape({ atMs: clock.elapsedMs() + 10_000, signal: waiting.signal });
    while (current().isRefreshing) await new Promise(setImmediate);
    expect(await station.now()).toEqual(expect.arrayContaining([UP, verified(1), silences(2)]));
    clock.advance(10_000);
    waiting.abort();
    expect(await first).toEqual(expect.arrayContaining([UP, verified(1), silences(2)]));
    station.timeOut();
    await current().further[0]?.refresh();
    clock.advance(MINUTE_MS);
    service.resources = [];
    const lines = await scrape({ atMs: clock.elapsedMs() + 9000, signal: new AbortController().signal });
    expect(lines).toEqual(expect.arrayContaining([UP, verified(0), silences(2), failedFor('silences', 'timeout')]));
    expect(current().further[0]?.isRefreshing).toBe(true);
    current().close();
  });

  it('is known to admission by a name of its own: its 503 does not slow the resources', async () => {
    const page = JSON.stringify({ resources: [{ resource_id: 'a' }], page: { total: 1 } });
    const { client, observer } = await servedClient((request, response) => {
      if (request.url?.includes('/resources?')) response.end(page);
      else response.writeHead(503).end('no silences here');
    });
    const spec = specOf({ cache: { ...specOf().cache, ttlMs: 0, errorTtlMs: 0 } });
    const service = { client, options: { ...CLIENT_OPTIONS, baseUrl: new URL('http://service') } };
    const newSource = () =>
      stationSource(spec.path, { ...service, replies: new SerialQueue(), reducedPageSizes: new Map() });
    const tools = { newSource, texts: new InternedTexts(), compressors: new CompressorPool(1) };
    const collectors = stationCollectors(spec, tools, FURTHER);
    const cache = new StationCache<Resources>(spec, { ...collectors, upstream: client.limiter });
    for (let round = 0; round < 5; round += 1) {
      const lines = await linesOf(await new Fleet([cache]).read(FOREVER));
      expect(lines).toEqual(expect.arrayContaining([UP, failedFor('silences', 'status')]));
    }
    expect(observer.throttlings).toBe(0);
    expect(client.limiter.load().requestsPerSecond).toBe(Number.POSITIVE_INFINITY);
  });
});
