import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../model/clock.ts';
import { ListingFailure } from '../model/failure.ts';
import {
  hasSameElements,
  type Listing,
  type ListingContext,
  type ListingFilters,
  type Part,
  type StationSource,
} from '../model/listing.ts';
import { NO_LABELS, type Resource } from '../model/resource.ts';
import type { ResourceLabels } from '../model/resource-labels.ts';
import type { StationSpec } from '../model/station-spec.ts';
import { TaskQueue } from '../model/task-queue.ts';

/** A station's resources at one point in time, immutable. Parts that did not change are shared with the previous snapshot. */
export type Snapshot = Listing<Resource>;

/** Reads a station's snapshots, reusing what did not change since the previous one. */
export class SnapshotReader {
  readonly #spec: StationSpec;
  readonly #source: StationSource;
  readonly #tasks: TaskQueue;
  readonly #alertable = new Membership('alertable resources', { enabled_alert: true });
  readonly #products: readonly Membership[];
  /** The listings beside the main one. */
  readonly #further: readonly Membership[];
  /** Joined parts of the latest snapshot, by the parts as listed. */
  #joined = new Map<Part<Resource>, Part<Resource>>();
  #latest: Snapshot | undefined;

  constructor(spec: StationSpec, source: StationSource, tasks = new TaskQueue()) {
    this.#spec = spec;
    this.#source = source;
    this.#tasks = tasks;
    this.#products = spec.products.map((product) => new Membership(`product ${product}`, { product }));
    this.#further = listsAlertable(spec) ? [this.#alertable, ...this.#products] : this.#products;
  }

  /** Lists the station, its products and its alertable resources concurrently and joins them by id; returns the previous snapshot if it is unchanged. */
  async read(context: ListingContext): Promise<Snapshot> {
    const { path, filters } = this.#spec;
    const [main, ...further] = await Promise.all([
      this.#source.listResources({ path, filters }, context),
      ...this.#further.map((listed) =>
        this.#source.listIds({ path, filters: { ...filters, ...listed.filters } }, context),
      ),
    ]);
    const parts = await this.#join(main.parts, further, context.signal);
    const snapshot = {
      ...main,
      parts,
      complete: main.complete && further.every(({ complete }) => complete),
      incompleteReasons: [
        ...main.incompleteReasons,
        ...further.flatMap(({ incompleteReasons }, at) =>
          incompleteReasons.map((reason) => `listing of ${this.#further[at]?.name}: ${reason}`),
        ),
      ],
      pages: further.reduce((sum, { pages }) => sum + pages, main.pages),
    };
    if (!this.#latest || !isSame(this.#latest, snapshot)) this.#latest = snapshot;
    return this.#latest;
  }

  async #join(
    parts: readonly Part<Resource>[],
    further: readonly Listing<string>[],
    signal: AbortSignal,
  ): Promise<readonly Part<Resource>[]> {
    const { alertability, products, resourceLabels } = this.#spec;
    if (!alertability && products.length === 0 && resourceLabels.entries.length === 0) return parts;
    const changed: Membership[] = [];
    for (const [at, listed] of this.#further.entries())
      if (await listed.update(further[at] as Listing<string>, this.#tasks)) changed.push(listed);
    const hasNewProducts = changed.some((listed) => listed !== this.#alertable);
    const isLabelling = resourceLabels.entries.length > 0;
    const outdated: Part<Resource>[] = [];
    const unlabelled: Resource[] = [];
    await this.#tasks.forEach(parts, (part) => {
      const known = this.#joined.get(part);
      if (known && (changed.length === 0 || known.every((resource) => this.#isCurrent(resource)))) return;
      outdated.push(part);
      // A record that changed has the labels that it had before.
      if (isLabelling) for (const r of part) if (r.labels === NO_LABELS || hasNewProducts) unlabelled.push(r);
    });
    const labelsOf = (r: Resource) => resourceLabels.labelsOf({ ...r, product: this.#productOf(r.id) });
    await setLabels(unlabelled, labelsOf, this.#tasks, signal);
    const joined = new Map<Part<Resource>, Part<Resource>>();
    if (alertability || products.length > 0)
      await this.#tasks.forEach(outdated, (part) =>
        joined.set(
          part,
          part.map((r) => ({ ...r, product: this.#productOf(r.id), alertable: this.#isAlertable(r.id) })),
        ),
      );
    this.#joined = new Map(parts.map((part) => [part, joined.get(part) ?? this.#joined.get(part) ?? part]));
    return [...this.#joined.values()];
  }

  #isCurrent({ id, product, alertable }: Resource): boolean {
    return product === this.#productOf(id) && alertable === this.#isAlertable(id);
  }

  #productOf(id: string): string {
    return this.#spec.products[this.#products.findIndex((product) => product.has(id))] ?? '';
  }

  /** A resource is known not to be alertable only when it is missing from a complete listing. */
  #isAlertable(id: string): boolean | undefined {
    const { alertability, filters } = this.#spec;
    if (!alertability) return undefined;
    if (filters.enabled_alert === true || this.#alertable.has(id)) return true;
    return this.#alertable.complete ? false : undefined;
  }
}

/** A copy of the snapshot with other labels. */
export async function relabelled(snapshot: Snapshot, labels: ResourceLabels, tasks: TaskQueue): Promise<Snapshot> {
  const parts: Part<Resource>[] = [];
  await tasks.forEach(snapshot.parts, (part) => parts.push(part.map((resource) => ({ ...resource }))));
  await setLabels(parts.flat(), (resource) => labels.labelsOf(resource), tasks);
  return { ...snapshot, parts };
}

/** Labels resources that are not published yet in place: copies of all of them would be the largest part of the cost. */
async function setLabels(
  resources: readonly Resource[],
  labelsOf: (resource: Resource) => Resource['labels'],
  tasks: TaskQueue,
  signal?: AbortSignal,
): Promise<void> {
  // One by one: a regular expression may take long.
  const single = resources.map((resource) => [resource] as const);
  await tasks.forEach(single, ([resource]) => {
    signal?.throwIfAborted();
    (resource as { labels: Resource['labels'] }).labels = labelsOf(resource);
  });
}

type ListedParts = Pick<StationSpec, 'products' | 'alertability' | 'filters'>;

/** How many listings a snapshot takes: the main one, one per product, one of the alertable resources. */
export function listingCount(spec: ListedParts): number {
  return 1 + spec.products.length + (listsAlertable(spec) ? 1 : 0);
}

/** With the filter enabled_alert, the main listing contains alertable resources only. */
function listsAlertable({ alertability, filters }: Pick<ListedParts, 'alertability' | 'filters'>): boolean {
  return alertability && filters.enabled_alert !== true;
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  return hasSameElements(a.parts, b.parts) && JSON.stringify(factsOf(a)) === JSON.stringify(factsOf(b));
}

/** Locations are left out because they change only together with the parts. */
function factsOf({ parts, locations, ...facts }: Snapshot): object {
  return facts;
}

/** Created once: without a reason, each abort creates an error with a stack. */
const ENDED = new Error('the refresh has ended');

interface RefreshOptions {
  /** Ends the refresh; it rejects with this signal's reason then. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly dueAtMs: number;
  readonly started?: () => void;
  readonly clock?: Clock;
}

/** Reads one snapshot within the station's refresh timeout, which counts from the admission of the first request. */
export async function takeSnapshot(
  reader: SnapshotReader,
  { name, refreshTimeoutMs }: Pick<StationSpec, 'name' | 'refreshTimeoutMs'>,
  { signal, dueAtMs, started, clock = systemClock }: RefreshOptions,
): Promise<Snapshot> {
  const controller = new AbortController();
  // Every request of the refresh listens to it.
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  const timeOut = () =>
    controller.abort(
      new ListingFailure('timeout', `the refresh did not finish within refresh_timeout (${refreshTimeoutMs / 1000} s)`),
    );
  let timer: NodeJS.Timeout | undefined;
  let deadlineMs = Number.POSITIVE_INFINITY;
  const context: ListingContext = {
    signal: controller.signal,
    station: name,
    dueAtMs,
    refreshTimeoutMs,
    started: () => {
      deadlineMs = clock.elapsedMs() + refreshTimeoutMs;
      timer = setTimeout(timeOut, refreshTimeoutMs);
      started?.();
    },
    deadlineMs: () => deadlineMs,
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await reader.read(context);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // When one listing fails, the requests of the others are cancelled.
    controller.abort(ENDED);
  }
}

/** The ids in the latest listing of a product or of alertable resources. */
class Membership {
  /** Of the listing. */
  readonly name: string;
  readonly filters: ListingFilters;
  #parts: readonly Part<string>[] = [];
  #ids: ReadonlySet<string> = new Set();
  complete = false;

  constructor(name: string, filters: ListingFilters) {
    this.name = name;
    this.filters = filters;
  }

  /** Takes the listing over; true when it differs from the previous one. */
  async update({ parts, complete }: Listing<string>, tasks: TaskQueue): Promise<boolean> {
    if (complete === this.complete && hasSameElements(parts, this.#parts)) return false;
    const ids = new Set<string>();
    await tasks.forEach(parts, (part) => {
      for (const id of part) ids.add(id);
    });
    this.#parts = parts;
    this.complete = complete;
    this.#ids = ids;
    return true;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
