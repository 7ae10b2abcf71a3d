import { describe, expect, it } from 'vitest';
import { postponedEntry, refreshEntry, stationDetail, stationStatus, upstreamStatuses } from '../../src/app/status.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { StationSpec } from '../../src/model/station-spec.ts';
import type { Health } from '../../src/refresh/station-cache.ts';
import { IDLE_LOAD, resourceOf } from '../refresh/fixtures.ts';
import { viewOf } from './station-view.ts';

const LOAD = { ...IDLE_LOAD, typicalLatencyMs: 1000 };

/** Only the station `stuck` hangs. */
const UPSTREAM = {
  concurrency: 8,
  client: { load: () => LOAD, isHanging: (station: string) => station === 'stuck' },
};

const FAILURE = { reason: 'auth', message: 'refused', error: new Error('refused') } as const;

const NEVER: Health = { lastAttemptMs: undefined, lastSuccessMs: undefined, durationMs: undefined, failure: undefined };

describe('stationStatus', () => {
  it('maps a station that is up', () => {
    const cache = { ttlMs: 1, maxStaleMs: 2, errorTtlMs: 3, refresh: 'background' } as const;
    expect(stationStatus(viewOf([resourceOf('a')], { cache }, { pages: 4, complete: false }), UPSTREAM)).toEqual({
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
      snapshot: {
        ...{ resources: 1, complete: false, incompleteReasons: [], rejected: 0, pages: 4, firing: 0, pending: 0 },
        ...{ alertable: undefined, withoutRules: 0, coverage: { alertable: 1, withRules: 1 } },
      },
      outages: [],
    });
  });

  it('is neither up nor down before the first refresh', () => {
    const view = { ...viewOf([]), health: NEVER, served: undefined, isRefreshing: true };
    expect(stationStatus(view, UPSTREAM)).toMatchObject({
      up: undefined,
      isRefreshing: true,
      refresh: 'scrape',
      snapshot: undefined,
    });
  });

  it('has the failure, for how long it waits, and whether it hangs', () => {
    const health = { ...NEVER, lastAttemptMs: 1, failure: FAILURE };
    const view = { ...viewOf([], { name: 'stuck' }), health, isRefreshing: true, waitingMs: 1234 };
    expect(stationStatus(view, UPSTREAM)).toMatchObject({
      up: false,
      failure: { reason: 'auth', message: 'refused' },
      isRefreshing: true,
      waitingMs: 1234,
      isHanging: true,
    });
  });

  it.each<[string, Partial<StationSpec>, Resource[], object]>([
    [
      'counts only alertable resources without alert rules when alertability is on',
      { alertability: true },
      [
        resourceOf('a', { alertable: true, alertRules: 0 }),
        resourceOf('b', { alertable: true, alertRules: 3, type: 'other' }),
        resourceOf('c', { alertable: false, alertRules: 0 }),
      ],
      { alertable: 2, withoutRules: 1 },
    ],
    [
      'counts all resources without alert rules when alertability is off',
      {},
      [resourceOf('a', { alertRules: 0 }), resourceOf('b', { alertRules: 0, type: 'other' }), resourceOf('c')],
      { alertable: undefined, withoutRules: 2 },
    ],
    [
      'does not count resources with an unknown number of alert rules',
      { alertability: true },
      [resourceOf('a', { alertable: true, alertRules: undefined })],
      { alertable: 1, withoutRules: undefined },
    ],
    [
      'counts no alertable resource in an empty station',
      { alertability: true },
      [],
      { alertable: 0, withoutRules: undefined },
    ],
  ])('%s', (_title, spec, resources, counts) => {
    expect(stationStatus(viewOf(resources, spec), UPSTREAM).snapshot).toMatchObject(counts);
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
    const [main, second] = upstreamStatuses(
      new Map([
        ['main', UPSTREAM],
        ['second', UPSTREAM],
        ['third', UPSTREAM],
      ]),
      views,
    );
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
    expect(stationDetail(view, UPSTREAM, [view])).toEqual({
      spec: view.spec,
      upstream: upstreamStatuses(new Map([['main', UPSTREAM]]), [view])[0],
      status: stationStatus(view, UPSTREAM),
      served: {
        snapshot: view.served?.publication.snapshot,
        aggregates: view.served?.encoded.aggregates,
        withheld: 7,
      },
    });
  });
});

describe('refreshEntry', () => {
  const resources = ['ALERTSTATE_FIRING', 'Firing', 'ALERTSTATE_INACTIVE', '', 'RESOLVED'].map((state, at) =>
    resourceOf(`${at}`, { state }),
  );

  it('counts resources as firing whose state contains the word in any case, as the alerts do', () => {
    const changes = { added: 1, removed: 2, stateChanges: 3, rulesChanges: 4 };
    const attempt = { waitedMs: 1500, changes: { ...changes, total: 10, list: [] } };
    expect(refreshEntry(viewOf(resources, {}, { pages: 4 }), attempt)).toEqual({
      ...{ atMs: 2000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 1500, durationMs: 12 },
      ...{ pages: 4, resources: 5, firing: 2, ...changes },
    });
  });

  it('knows no changes of a listing that is not complete', () => {
    const entry = refreshEntry(viewOf(resources, {}, { complete: false }), { waitedMs: 0, changes: undefined });
    expect(entry).toMatchObject({ outcome: 'incomplete', resources: 5 });
    expect(entry).not.toHaveProperty('added');
  });

  it('has the failure, and no numbers of the snapshot before', () => {
    const health = { ...NEVER, lastAttemptMs: 5000, durationMs: 7, failure: FAILURE };
    const entry = refreshEntry({ ...viewOf(resources), health }, { waitedMs: 0, changes: undefined });
    expect(entry).toEqual({
      atMs: 5000,
      refreshes: 1,
      failed: 1,
      outcome: 'failed',
      failure: FAILURE,
      waitedMs: 0,
      durationMs: 7,
    });
  });
});

describe('postponedEntry', () => {
  it('is not a failure of the station', () => {
    const failure = new ListingFailure('rate_limited', 'later', { isPostponed: true });
    expect(postponedEntry(failure, 9000)).toEqual({
      ...{ atMs: 9000, refreshes: 1, failed: 0, outcome: 'postponed', waitedMs: 0 },
      failure: { reason: 'rate_limited', message: 'later' },
    });
  });
});
