import { describe, expect, it } from 'vitest';
import type { Generation } from '../../src/app/composition.ts';
import { stationDetail, statusesOf, upstreamStatuses } from '../../src/app/status.ts';
import type { Health } from '../../src/model/health.ts';
import { ChangeLog } from '../../src/resources/changes.ts';
import type { Resources } from '../../src/resources/collector.ts';
import type { StationView } from '../../src/stations/station-cache.ts';
import { IDLE_LOAD, resourceOf } from '../stations/fixtures.ts';
import { viewOf } from './station-view.ts';

/** A generation with this station; the upstreams have this load, and only the station `stuck` hangs. */
function generationOf(
  view: StationView<Resources>,
  load = IDLE_LOAD,
  others: readonly StationView<Resources>[] = [],
): Generation {
  const replies = {
    isHanging: (station: string) => station === 'stuck',
    hasReplied: (station: string) => station === 'answered',
  };
  const limiter = { load: () => load, stations: replies };
  const upstreams = new Map(['main', 'second'].map((name) => [name, { options: { concurrency: 8 }, limiter }]));
  const loaded = { config: { links: [] } };
  const views = [view, ...others];
  const stations = new Map(views.map((some) => [some.spec.name, { spec: some.spec, view: () => some }]));
  return { loaded, fleet: { views: () => views }, stations, upstreams, journals: new Map() } as unknown as Generation;
}

const statusOf = (view: StationView<Resources>, ...others: StationView<Resources>[]) =>
  statusesOf(generationOf(view, IDLE_LOAD, others))[0];

const FAILURE = { reason: 'auth', message: 'refused', error: new Error('refused') } as const;

const NEVER: Health = {
  addedMs: 0,
  lastAttemptMs: undefined,
  lastSuccessMs: undefined,
  durationMs: undefined,
  failure: undefined,
  firstMessage: undefined,
};

describe('statusesOf', () => {
  it('maps a station that is up', () => {
    const cache = { ttlMs: 1, maxStaleMs: 2, errorTtlMs: 3, refresh: 'background' } as const;
    expect(statusOf(viewOf([resourceOf('a')], { cache }, { pages: 4, complete: false }))).toMatchObject({
      name: 'prod',
      upstream: 'main',
      telemetryStation: 'ts',
      up: true,
      lastSuccessMs: 2000,
      lastAttemptMs: 2000,
      durationMs: 12,
      dueInMs: 345,
      isRefreshing: false,
      hasReplied: true,
      isHanging: false,
      isUpstreamDown: false,
      refresh: 'background',
      isBeforeReload: false,
      snapshot: {
        resources: 1,
        addsUp: false,
        complete: false,
        rejected: 0,
        pages: 4,
        firing: 0,
        unknown: 0,
        alertable: undefined,
        withRules: 1,
        withoutRules: 0,
        isIncomparable: false,
      },
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
      hasReplied: false,
    });
    expect(statusOf({ ...view, spec: { ...view.spec, name: 'answered' } })).toMatchObject({ hasReplied: true });
  });

  it('knows whether the listing could not be compared', () => {
    const { served, ...view } = viewOf([]);
    const comparison = { result: 'incomparable', base: undefined, nowMs: 0 } as const;
    const held = { ...view, served: { ...served, data: { ...served.data, comparison } } };
    expect(statusOf(held)?.snapshot?.isIncomparable).toBe(true);
  });

  it('knows whether the upstream answers others', () => {
    const failed = { ...viewOf([]), health: { ...NEVER, lastAttemptMs: 1, failure: FAILURE } };
    expect(statusOf(failed)?.isUpstreamDown).toBe(true);
    expect(statusOf(failed, viewOf([], { name: 'other', upstream: 'second' }))?.isUpstreamDown).toBe(true);
    expect(statusOf(failed, viewOf([], { name: 'other' }))?.isUpstreamDown).toBe(false);
  });
});

describe('upstreamStatuses', () => {
  it('compares the capacity with the requests of the latest snapshots of the stations of each upstream', () => {
    const view = viewOf([resourceOf('a')], {}, { pages: 30 });
    const others = [
      { ...viewOf([], { name: 'unknown' }), served: undefined },
      viewOf([], { name: 'other', upstream: 'second' }, { pages: 7 }),
    ];
    const load = { ...IDLE_LOAD, typicalLatencyMs: 1000 };
    expect(upstreamStatuses(generationOf(view, load, others))).toMatchObject([
      { name: 'main', load, capacity: { neededPerSecond: 0.5, possiblePerSecond: 8, unknownStations: 1 } },
      { name: 'second', capacity: { unknownStations: 0 } },
    ]);
  });
});

describe('upstreamStatus', () => {
  it('counts the requests of further collectors, but none of a station without a snapshot', () => {
    const view = viewOf([resourceOf('a')], {}, { pages: 30 });
    const silences = {
      data: undefined,
      families: new Map(),
      withheld: 0,
      repeated: [{ pages: 6, intervalMs: 60_000 }],
    };
    const further = [
      { ...view, collector: 'silences', served: silences },
      { ...view, collector: 'failing', served: undefined },
    ];
    const load = { ...IDLE_LOAD, typicalLatencyMs: 1000 };
    const [status] = upstreamStatuses(generationOf({ ...view, further }, load, []));
    expect(status?.capacity).toMatchObject({ neededPerSecond: 0.6, unknownStations: 0 });
    const [unknown] = upstreamStatuses(generationOf({ ...view, further, served: undefined }, load, []));
    expect(unknown?.capacity).toBeUndefined();
  });
});

describe('stationDetail', () => {
  it('has the snapshot of a station, and is undefined of an unknown one', () => {
    const view = viewOf([resourceOf('a')], {}, {}, 600);
    const changes = new ChangeLog({ changes: 1, changes_per_station: 1 });
    const { snapshot, spec } = view.served.data;
    expect(stationDetail(generationOf(view), 'prod', changes)).toMatchObject({
      status: { name: 'prod' },
      served: { spec, snapshot, withheld: 7, withheldFiring: 600 },
      refreshes: [],
      links: [],
    });
    expect(stationDetail(generationOf(view), 'other', changes)).toBeUndefined();
  });
});
