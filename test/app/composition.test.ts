import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import {
  endGeneration,
  type Generation,
  nextGeneration,
  recordLimits,
  type SharedServices,
  sharedServices,
  startGeneration,
} from '../../src/app/composition.ts';
import { configSchema } from '../../src/config/schema.ts';
import { RequestFailure } from '../../src/service/request-failure.ts';
import { loaded } from '../config/fixtures.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { isCollected } from '../held-by-buffers.ts';
import { SILENT, setUpLog } from '../journal/recorded-log.ts';
import { listingContext } from '../service/support/context.ts';
import { first } from '../simulator/simulated-service.ts';

const URL_A = 'http://127.0.0.1:1';

const LOADED = await loaded(stringify(configOf(URL_A, ['a'])));

function servicesOf(): SharedServices {
  return sharedServices(LOADED, SILENT, 1);
}

/** A generation that is closed when the test ends. */
async function generationOf(config: object, old?: Generation, services = servicesOf()): Promise<Generation> {
  const generation = await nextGeneration(await loaded(stringify(config)), old, services, (next) => next);
  onTestFinished(() => endGeneration(generation, undefined));
  return generation;
}

const startService = () => startTestService({ source: () => entriesOf(3) });

const startHanging = () => startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });

/** Settings with which a request of a hanging station soon ends. */
const IMPATIENT = { timeout: '50ms', max_retries: 0 };

const limiterOf = ({ upstreams }: Generation) => upstreams.get('main')?.limiter ?? expect.unreachable();

const refreshAll = ({ stations }: Generation) =>
  Promise.all(Array.from(stations.values(), (station) => station.refresh()));

/** A generation after a refresh of each station. */
async function refreshed(config: object, old?: Generation): Promise<Generation> {
  const generation = await generationOf(config, old);
  await refreshAll(generation);
  return generation;
}

describe('nextGeneration', () => {
  it('logs a bug of the journal, which is no failure of the station', async () => {
    const service = await startService();
    const { log, logged } = setUpLog();
    const services = { ...servicesOf(), log };
    const generation = await generationOf(configOf(service.url, ['a']), undefined, services);
    vi.spyOn(services.lines, 'refreshEnded').mockImplementation(() => {
      throw new Error('a bug');
    });
    await refreshAll(generation);
    const view = generation.stations.get('a')?.view();
    expect(view?.health.failure).toBeUndefined();
    expect(view?.served?.data.snapshot.size).toBe(3);
    expect(logged()).toEqual([
      expect.stringContaining('error msg="internal error (exporter bug)" station=a error="a bug'),
    ]);
  });

  it('keeps the refreshes of a station by its name, and continues them', async () => {
    const service = await startService();
    const outcomes = (generation: Generation) =>
      generation.journals
        .get('a')
        ?.refreshes.newestFirst()
        .map(({ resources }) => resources);
    const changes = [{ upstream: { timeout: '9s' } }, { station: { filters: { resource_ids: ['r1'] } } }];
    let generation = await refreshed(configOf(service.url, ['a', 'b']));
    for (const change of changes) generation = await refreshed(configOf(service.url, ['a'], change), generation);
    expect(outcomes(generation)).toEqual([1, 3, 3]);
    const removed = await generationOf(configOf(service.url, ['b']), generation);
    const again = await generationOf(configOf(service.url, ['a']), removed);
    expect([outcomes(removed), outcomes(again)]).toEqual([undefined, []]);
  });

  it('counts requests that the service throttles and their retries, and logs them', async () => {
    const throttledOnce = { ...replyWith(429, { 'retry-after': '0' }), when: first(1) };
    const service = await startTestService({ source: () => entriesOf(3), faults: { '*': [throttledOnce] } });
    const { log, logged } = setUpLog();
    const services = sharedServices(LOADED, { ...SILENT, log }, 1);
    services.own.upstreams.add('main');
    const config = configOf(service.url, ['a'], { upstream: { max_retries: 1 } });
    await refreshAll(await generationOf(config, undefined, services));
    const text = await services.own.text('text', new Set());
    for (const name of ['requests_throttled_total', 'request_retries_total'])
      expect(text).toContain(`telemetry_station_exporter_api_${name}{upstream="main"} 1\n`);
    expect(logged()).toEqual(['warn msg="upstream throttles requests" upstream=main status=429 times=1']);
  });

  it('does not hold the stations of the generations before', async () => {
    const services = servicesOf();
    const build = async (ttl: string, old?: Generation) => {
      const config = await loaded(stringify({ ...configOf(URL_A, ['a']), cache: { ttl } }));
      return nextGeneration(config, old, services, (next) => next);
    };
    const reload = async () => {
      const old = await build('1h');
      const next = await build('2h', old);
      await endGeneration(old, next);
      return { next, before: new WeakRef(old.stations.get('a') as object) };
    };
    const { next, before } = await reload();
    onTestFinished(() => endGeneration(next, undefined));
    await expect.poll(() => isCollected(before)).toBe(true);
  });

  it('leaves the old generation working when it fails half-way', async () => {
    const service = await startService();
    const other = { other: { base_url: service.url } };
    const config = configOf(service.url, ['a', 'b'], { station: { upstream: 'main' } });
    const services = servicesOf();
    const old = await generationOf(config, undefined, services);
    await refreshAll(old);
    const changed = { ...config, upstreams: { ...config.upstreams, ...other }, metrics: { per_resource: false } };
    const fail = () => {
      throw new Error('a bug');
    };
    const next = await loaded(stringify(changed));
    await expect(nextGeneration(next, old, services, fail)).rejects.toThrow('a bug');
    service.setRecords('a', entriesOf(1, 'new'));
    await old.fleet.read({ atMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal });
    expect(old.stations.get('a')?.view().served?.data.snapshot.size).toBe(1);
    expect(await services.own.text('text', new Set())).not.toContain('upstream="other"');
  });
});

describe('startGeneration', () => {
  it('takes over what a predecessor has listed while the generation was built', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a']);
    const old = await refreshed(config);
    const next = await generationOf({ ...config, metrics: { per_resource: false } }, old);
    service.setRecords('a', entriesOf(1));
    await refreshAll(old);
    startGeneration(next, old);
    expect(next.stations.get('a')?.view().served?.data.snapshot.size).toBe(1);
  });

  it('lets unchanged stations request full pages again', async () => {
    const tooLargeOnce = { ...replyWith(413), when: first(1) };
    const service = await startTestService({ source: () => entriesOf(3), faults: { '*': [tooLargeOnce] } });
    const config = configOf(service.url, ['a'], { upstream: { page_size: 100 } });
    const old = await refreshed(config);
    const pageSize = () => old.stations.get('a')?.view().served?.data.snapshot.reducedPageSize;
    expect(pageSize()).toBe(50);
    const next = await generationOf(config, old);
    startGeneration(next, old);
    expect(next.stations.get('a')).toBe(old.stations.get('a'));
    await refreshAll(next);
    expect(pageSize()).toBeUndefined();
  });
});

describe('endGeneration', () => {
  it('keeps the pause and the hanging stations of an upstream of which only limits changed', async () => {
    const service = await startHanging();
    const old = await refreshed(configOf(service.url, ['a'], { upstream: IMPATIENT }));
    const held = new RequestFailure('rate_limited', '429', { status: 429, retryable: true, retryAfterMs: 600_000 });
    const work = { prepare: async () => undefined, send: () => Promise.reject(held) };
    expect(await limiterOf(old).run(listingContext(), work)).toMatchObject({ failure: held });
    const loadAfter = async (changed: object) => {
      const next = await generationOf(configOf(service.url, ['a'], { upstream: { ...IMPATIENT, ...changed } }), old);
      startGeneration(next, old);
      const { hangingStations, pauseMs } = limiterOf(next).load();
      return { hangingStations, isPaused: pauseMs > 0 };
    };
    expect(await loadAfter({ concurrency: 3 })).toEqual({ hangingStations: 1, isPaused: true });
    expect(await loadAfter({ authorization: { credentials: 'other' } })).toEqual({
      hangingStations: 0,
      isPaused: false,
    });
  });

  it('lets an upstream forget that a removed station hangs', async () => {
    const service = await startHanging();
    const old = await refreshed(configOf(service.url, ['a', 'b'], { upstream: IMPATIENT }));
    const next = await generationOf(configOf(service.url, ['a'], { upstream: IMPATIENT }), old);
    const hangingStations = () => limiterOf(next).load().hangingStations;
    expect(hangingStations()).toBe(2);
    await endGeneration(old, next);
    expect(hangingStations()).toBe(1);
  });
});

describe('recordLimits', () => {
  const MIB = 1024 * 1024;
  const limitsOf = (limits: object, heapBytes?: number) =>
    recordLimits(configSchema.parse({ ...configOf('http://h', ['a']), limits }), 1, heapBytes);

  it('leaves at least 1,000 bytes of the heap for each record, whatever the heap', () => {
    for (const heapMib of [96, 256, 512, 4096, 16_384]) {
      const { records, records_per_station } = limitsOf({}, heapMib * MIB);
      expect((heapMib * MIB) / records).toBeGreaterThan(1000);
      expect(records_per_station).toBeLessThan(records);
    }
    expect(limitsOf({}, 259 * MIB)).toEqual({ records: 111_210, records_per_station: 83_408 });
    expect(limitsOf({}, 10 * MIB)).toEqual({ records: 1000, records_per_station: 750 });
    expect(limitsOf({}).records).toBeGreaterThan(1000);
  });

  it('are those of the configuration', () => {
    expect(limitsOf({ records: 400 }, MIB)).toEqual({ records: 400, records_per_station: 300 });
    expect(limitsOf({ records_per_station: 5 }, 259 * MIB)).toEqual({ records: 111_210, records_per_station: 5 });
  });
});
