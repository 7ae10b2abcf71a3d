import { searchStations } from '../../src/query/selection.ts';
import type { StationChanges } from '../../src/resources/changes.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import { upstreamAccess } from '../../src/service/upstream-access.ts';
import type { FailureStreak } from '../../src/status/latest-refreshes.ts';
import { countOwners } from '../../src/status/owners.ts';
import type { StationDetail, StationStatus, UpstreamStatus } from '../../src/status/station-status.ts';
import type { ExporterPort } from '../../src/web/port.ts';
import { CLIENT_OPTIONS, schemeOf } from '../service/support/client.ts';
import { aggregatesOf, IDLE_LOAD, listingOf, specOf } from '../stations/fixtures.ts';

/** A station without a known change. */
export const NO_CHANGES: StationChanges = { newestFirst: [], removals: [], dropped: 0, droppedRemovals: 0 };

/** Complete data without resources. */
export const SNAPSHOT: NonNullable<StationStatus['snapshot']> = {
  resources: 0,
  addsUp: true,
  complete: true,
  incompleteReasons: [],
  rejected: 0,
  pages: 1,
  firing: 0,
  pending: 0,
  unknown: 0,
  sets: { all: 0, firing: 0, unknown: 0, missing: 0 },
  unknownStates: [],
  alertable: undefined,
  alertRules: undefined,
  withRules: 0,
  withoutRules: 0,
  unknownCoverage: 0,
  unknownAge: 0,
  overdue: undefined,
  oldestUncovered: undefined,
  absentFields: {},
  reportedZeros: 0,
  isIncomparable: false,
};

/** What data has in which records were rejected. */
export function withRejected(rejected: number) {
  return {
    complete: false,
    rejected,
    incompleteReasons: [{ reason: 'rejected_records' as const, text: `${rejected} rejected` }],
  };
}

/** Of a station whose latest refresh is the first that failed. */
export const FAILURE_STREAK: FailureStreak = {
  fromMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  failed: 1,
  reason: 'timeout',
  status: undefined,
  reasonFromMs: Date.UTC(2026, 0, 2, 3, 4, 5),
};

export const STATION: StationStatus = {
  name: 'prod',
  upstream: 'main',
  telemetryStation: 'ts',
  up: true,
  failure: undefined,
  lastSuccessMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  lastAttemptMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  durationMs: 250,
  dueInMs: 30_000,
  isRefreshing: false,
  waitingMs: undefined,
  access: upstreamAccess({
    ...CLIENT_OPTIONS,
    baseUrl: new URL('https://monitor.example.com'),
    auth: schemeOf({ authorization: { credentials: 's' } }),
  }),
  hasReplied: true,
  isHanging: false,
  isUpstreamDown: false,
  refresh: 'scrape',
  snapshot: {
    ...SNAPSHOT,
    sets: { all: 42, firing: 5, unknown: 0, missing: 0 },
    resources: 42,
    firing: 5,
    pending: 1,
    pages: 3,
    withRules: 35,
    withoutRules: 7,
  },
  isBeforeReload: false,
  failureStreak: undefined,
  incompleteSinceMs: undefined,
  unknownSinceMs: undefined,
  comparedSinceMs: 0,
  gapEndMs: undefined,
  lossAt: () => undefined,
  numberChanges: [],
};

/** An upstream whose limits are not reached. */
export const UPSTREAM: UpstreamStatus = {
  name: 'main',
  load: IDLE_LOAD,
  capacity: undefined,
};

export const NOW_MS = Date.UTC(2026, 0, 2, 3, 5, 0);

interface Changes extends Partial<Pick<StationDetail, 'refreshes' | 'changes' | 'links'>> {
  readonly spec?: Partial<ResourceSpec>;
  /** With which it was listed, if a reload changed it since. */
  readonly former?: Partial<ResourceSpec>;
  readonly upstream?: Partial<UpstreamStatus>;
  readonly status?: Partial<StationStatus>;
  readonly snapshot?: Partial<Snapshot>;
  readonly withheld?: number;
  readonly withheldFiring?: number;
}

/** A station that serves these resources. */
export function detailOf(
  resources: readonly Resource[],
  { spec = {}, former = spec, upstream = {}, status = {}, snapshot = {}, ...others }: Changes = {},
): StationDetail {
  const { withheld = 0, withheldFiring = 0, ...rest } = others;
  const aggregates = aggregatesOf(resources, former.alertability, new LabelValues(specOf(spec).labelValues));
  const listing = listingOf(resources, snapshot);
  const served = { spec: specOf(former), snapshot: listing, aggregates, withheld, withheldFiring };
  const name = spec.name ?? STATION.name;
  const { complete } = served.snapshot;
  return {
    spec: specOf(spec),
    upstream: { ...UPSTREAM, ...upstream },
    status: { ...STATION, name, snapshot: { ...SNAPSHOT, resources: resources.length, complete }, ...status },
    served,
    refreshes: [],
    changes: NO_CHANGES,
    links: [],
    ...rest,
  };
}

/** An exporter of only that station. */
export function exporterOf(detail: StationDetail) {
  return {
    specs: () => [detail.spec],
    has: (name) => name === detail.spec.name,
    stations: () => [detail.status],
    upstreams: () => [detail.upstream],
    owners: (_station, types) => {
      const stations = detail.served ? [detail.served] : [];
      return countOwners(stations, detail.spec.resourceLabels.names, types);
    },
    station: (name) => (name === detail.spec.name ? detail : undefined),
    changes: () => detail.changes,
    search: (selection, order, signal) =>
      searchStations(
        [{ ...(detail.served ?? detail).spec, parts: detail.served?.snapshot.parts }],
        selection,
        order,
        signal,
      ),
  } satisfies Partial<ExporterPort>;
}
