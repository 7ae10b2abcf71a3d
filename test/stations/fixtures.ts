import { vi } from 'vitest';
import type { Clock } from '../../src/model/clock.ts';
import type { List, Listing, Part, QueryFilters, RefreshContext, StationSource } from '../../src/model/listing.ts';
import type { UpstreamLoad } from '../../src/model/upstream-load.ts';
import { Aggregation } from '../../src/resources/aggregates.ts';
import { StateMeanings } from '../../src/resources/alert-state.ts';
import { ResourceCollector, type Resources } from '../../src/resources/collector.ts';
import type { Publication } from '../../src/resources/family-tables.ts';
import { LISTING_FIELDS, type Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import type { StationView } from '../../src/stations/station-cache.ts';

export function specOf(changes: Partial<ResourceSpec> = {}): ResourceSpec {
  return {
    name: 'prod',
    upstream: 'main',
    path: { subscription: 'sub', resource_group: 'rg', zone: 'z1', telemetry_station: 'ts' },
    filters: {},
    products: [],
    alertability: false,
    productsTtlMs: 0,
    alertabilityTtlMs: 0,
    cache: { ttlMs: 60_000, maxStaleMs: 900_000, errorTtlMs: 10_000, refresh: 'scrape' },
    refreshTimeoutMs: 120_000,
    labels: {},
    resourceLabels: new ResourceLabels(),
    states: new StateMeanings(),
    coverageWithinMs: undefined,
    absentFields: undefined,
    labelValues: 1000,
    maxChanges: 1000,
    metrics: { perResource: true, maxResources: 100_000, maxFiringResources: 500, disabled: new Set() },
    ...changes,
  };
}

/** The load of an upstream whose limits are not reached. */
export const IDLE_LOAD: UpstreamLoad = {
  requestsPerSecond: Number.POSITIVE_INFINITY,
  pauseMs: 0,
  recentRequests: 180,
  recentThrottled: 0,
  throttledForMs: undefined,
  waitingRefreshes: 0,
  oldestWaitingMs: 0,
  hangingStations: 0,
  typicalLatencyMs: 67,
};

/** Its alert state is what the words of the state say. */
export function resourceOf(id: string, changes: Partial<Resource> = {}): Resource {
  const { state = 'INACTIVE' } = changes;
  return {
    id,
    name: `name-${id}`,
    displayName: `Display ${id}`,
    type: 'type.a',
    typeLabel: 'Type A',
    state,
    alertState: new StateMeanings().alertStateOf(state),
    sku: '',
    gpuModel: '',
    alertRules: 1,
    createdSeconds: 1_700_000_000,
    product: '',
    listedAlertable: changes.alertable,
    exemptBy: undefined,
    alertable: undefined,
    labels: undefined,
    ...changes,
  };
}

export function aggregatesOf(
  resources: readonly Resource[],
  alertability = false,
  values = new LabelValues(1000),
  overdueBefore?: number,
): Aggregation {
  const aggregates = new Aggregation(alertability, values, overdueBefore);
  for (const resource of resources) aggregates.add(resource);
  return aggregates;
}

/** So many resources, with ids from `r0` on. */
export function resourcesOf(count: number, changes: (index: number) => Partial<Resource> = () => ({})): Resource[] {
  return Array.from({ length: count }, (_, index) => resourceOf(`r${index}`, changes(index)));
}

const noInvalidFields = Object.fromEntries(LISTING_FIELDS.map((field) => [field, 0]));

/** A source whose lists the test provides. */
export function sourceWith(
  resources: (filters: QueryFilters, context: RefreshContext) => Promise<Listing<Resource>>,
  ids: List<string> = async () => listingOf([]),
): StationSource {
  return { lister: <Row>({ name }: { readonly name: string }) => (name === 'ids' ? ids : resources) as List<Row> };
}

/** The collector of resources, which encodes a publication to a text: the only name of its families. */
export function collectorOf(
  spec: ResourceSpec,
  {
    encode,
    ...dependencies
  }: {
    readonly source: StationSource;
    readonly clock?: Clock;
    readonly encode: (publication: Publication) => Promise<string>;
  },
): ResourceCollector {
  const encoder = {
    encode: async (publication: Publication) => {
      const families = new Map([[await encode(publication), []]]);
      return { families, withheld: 0, withheldFiring: 0 };
    },
  };
  return new ResourceCollector(spec, { ...dependencies, encoder });
}

/** What `collectorOf` encoded; undefined: nothing is served. */
export function encodedIn({ served }: Pick<StationView<Resources>, 'served'>): string | undefined {
  return served && [...served.families.keys()].join();
}

/** A listing of one part, which is a snapshot too. */
export function listingOf<Row>(
  rows: Part<Row>,
  changes: Partial<Listing<Row>> = {},
): Listing<Row> & Pick<Snapshot, 'repeated' | 'main' | 'ignoresProduct'> {
  const { pages = 1, complete = true, addsUp = complete } = changes;
  return {
    main: { addsUp },
    ignoresProduct: false,
    repeated: [{ pages, intervalMs: 60_000 }],
    parts: rows.length === 0 ? [] : [rows],
    invalid: rows.length === 0 ? [] : [new Map()],
    size: rows.length,
    addsUp,
    complete,
    incompleteReasons: [],
    reportedTotal: rows.length,
    pages: 1,
    duplicates: 0,
    rejected: 0,
    rejectedRecords: [],
    invalidFields: noInvalidFields,
    absentFields: {},
    ...changes,
  };
}

/** What a listing that adds up has when it rejected so many records. */
export function rejecting(rejected: number) {
  return {
    addsUp: true,
    complete: rejected === 0,
    rejected,
    incompleteReasons: rejected === 0 ? [] : [{ reason: 'rejected_records' as const, text: `${rejected} rejected` }],
  };
}

/** A reason why a listing does not add up. */
export function mismatch(text: string) {
  return { reason: 'total_mismatch' as const, text };
}

/** Labels that call a function before they label a resource. */
export class ObservedLabels extends ResourceLabels {
  beforeLabelling: (resource: Resource) => void = () => undefined;

  override labelled(resource: Resource) {
    this.beforeLabelling(resource);
    return super.labelled(resource);
  }
}

/** The size of the largest map that is iterated meanwhile. */
export function largestIterated(run: () => void): number {
  const iterations = (['values', 'entries', 'forEach', Symbol.iterator] as const).map((name) =>
    vi.spyOn(Map.prototype, name),
  );
  run();
  const sizes = iterations.flatMap(({ mock }) => mock.contexts.map((map) => (map as Map<string, unknown>).size));
  vi.restoreAllMocks();
  return Math.max(0, ...sizes);
}

/** A clock that only advances explicitly. */
export class ManualClock implements Clock {
  #ms = 0;
  readonly wallMs = () => 1_700_000_000_000 + this.#ms;
  readonly elapsedMs = () => this.#ms;

  advance(ms: number): void {
    this.#ms += ms;
  }
}
