import { describe, expect, it } from 'vitest';
import type { Generation } from '../../src/app/generation.ts';
import { stationDetail, stationStatus, upstreamStatuses } from '../../src/app/status.ts';
import { ChangeLog } from '../../src/inventory/changes.ts';
import type { EncodedSnapshot } from '../../src/metrics/station-encoder.ts';
import type { Health, StationView } from '../../src/refresh/station-cache.ts';
import { IDLE_LOAD, resourceOf } from '../refresh/fixtures.ts';
import { viewOf } from './station-view.ts';

const LOAD = { ...IDLE_LOAD, typicalLatencyMs: 1000 };

/** Only the station `stuck` hangs. */
const UPSTREAM = {
  concurrency: 8,
  limiter: { load: () => LOAD, isHanging: (station: string) => station === 'stuck' },
};

/** A generation of stations of three such upstreams. */
const generationOf = (...views: readonly StationView<EncodedSnapshot>[]) =>
  ({
    loaded: { config: { links: [] } },
    fleet: { views: () => views },
    upstreams: new Map(['main', 'second', 'third'].map((name) => [name, UPSTREAM])),
    journals: new Map(),
  }) as unknown as Generation;

const statusOf = (view: StationView<EncodedSnapshot>) => stationStatus(generationOf(), view);

const FAILURE = { reason: 'auth', message: 'refused', error: new Error('refused') } as const;

const NEVER: Health = { lastAttemptMs: undefined, lastSuccessMs: undefined, durationMs: undefined, failure: undefined };

describe('stationStatus', () => {
  it('maps a station that is up', () => {
    const cache = { ttlMs: 1, maxStaleMs: 2, errorTtlMs: 3, refresh: 'background' } as const;
    expect(statusOf(viewOf([resourceOf('a')], { cache }, { pages: 4, complete: false }))).toEqual({
      name: 'prod',
      upstream: 'main',
      telemetryStation: 'ts',
      up: true,
      failure: undefined,
      lastSuccessMs: 2000,
      lastAttemptMs: 2000,
      durationMs: 12,
      dueInMs: 345,
      isRefreshing: false,
      waitingMs: undefined,
      isHanging: false,
      refresh: 'background',
      ttlMs: 1,
      maxStaleMs: 2,
      snapshot: {
        resources: 1,
        addsUp: false,
        complete: false,
        incompleteReasons: [],
        rejected: 0,
        isChurnWaiting: false,
        pages: 4,
        firing: 0,
        pending: 0,
        unknown: 0,
        unknownStates: [],
        alertable: undefined,
        alertRules: 1,
        withRules: 1,
        withoutRules: 0,
        unknownCoverage: 0,
      },
      outages: [],
      incompleteSinceMs: undefined,
      unknownSinceMs: undefined,
      refreshesSince: expect.any(Function),
    });
  });

  it('is neither up nor down before the first refresh', () => {
    const view = { ...viewOf([]), health: NEVER, served: undefined, isRefreshing: true };
    expect(statusOf(view)).toMatchObject({
      up: undefined,
      isRefreshing: true,
      refresh: 'scrape',
      snapshot: undefined,
    });
  });

  it('has the failure, for how long it waits, and whether it hangs', () => {
    const health = { ...NEVER, lastAttemptMs: 1, failure: FAILURE };
    const view = { ...viewOf([], { name: 'stuck' }), health, isRefreshing: true, waitingMs: 1234 };
    expect(statusOf(view)).toMatchObject({
      up: false,
      failure: { reason: 'auth', message: 'refused' },
      isRefreshing: true,
      waitingMs: 1234,
      isHanging: true,
    });
  });
});

describe('upstreamStatuses', () => {
  const spec = { alertability: true, products: ['p'] };

  it('compares the capacity with the requests of the latest snapshots of the stations of each upstream', () => {
    const views = [
      viewOf([resourceOf('a')], spec, { pages: 30 }),
      { ...viewOf([], { name: 'unknown' }), served: undefined },
      viewOf([], { name: 'other', upstream: 'second' }, { pages: 7 }),
    ];
    const [main, second] = upstreamStatuses(generationOf(), views);
    expect(main).toMatchObject({
      name: 'main',
      load: LOAD,
      capacity: { neededPerSecond: 0.5, possiblePerSecond: 8, unknownStations: 1 },
    });
    expect(second).toMatchObject({ name: 'second', capacity: { unknownStations: 0 } });
  });
});

describe('stationDetail', () => {
  it('adds the configuration and the snapshot to the status', () => {
    const view = viewOf([resourceOf('a')]);
    const log = new ChangeLog({ changes: 1, changes_per_station: 1 });
    expect(stationDetail(generationOf(view), 'prod', log)).toEqual({
      spec: view.spec,
      upstream: upstreamStatuses(generationOf(), [view])[0],
      status: { ...statusOf(view), refreshesSince: expect.any(Function) },
      served: {
        snapshot: view.served?.publication.snapshot,
        aggregates: view.served?.encoded.aggregates,
        withheld: 7,
      },
      history: [],
      changes: { newestFirst: [], dropped: 0 },
      links: [],
    });
  });
});
