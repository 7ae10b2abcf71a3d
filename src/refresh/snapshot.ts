import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../model/clock.ts';
import { ListingFailure } from '../model/failure.ts';
import { LargeMap } from '../model/large-map.ts';
import {
  hasSameElements,
  type Listing,
  type ListingContext,
  type ListingFilters,
  type Part,
  type StationSource,
} from '../model/listing.ts';
import { NO_LABELS, type Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import { TaskQueue } from '../tasks/task-queue.ts';

/** A station's resources at one point in time, immutable. Parts that did not change are shared with the previous snapshot. */
export type Snapshot = Listing<Resource>;

/** Reads a station's snapshots, reusing what did not change since the previous one. */
export class SnapshotReader {
  readonly #spec: StationSpec;
  readonly #source: StationSource;
  readonly #tasks: TaskQueue;
  readonly #further: readonly FurtherListing[];
  /** Replaced as a whole at the end of a refresh: one that ends early must leave nothing for the next. */
  #latest: ReadState;

  constructor(spec: StationSpec, source: StationSource, tasks = new TaskQueue()) {
    this.#spec = spec;
    this.#source = source;
    this.#tasks = tasks;
    this.#further = furtherListings(spec);
    const memberships = this.#further.map(() => NO_MEMBERS);
    this.#latest = { memberships, joined: new Map(), snapshot: undefined };
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
    const memberships = await this.#membershipsAfter(further);
    const joined = await this.#join(main.parts, memberships, context.signal);
    const listed: Snapshot = {
      ...main,
      parts: main.parts.map((part) => joined.get(part) ?? part),
      addsUp: main.addsUp && further.every(({ addsUp }) => addsUp),
      complete: main.complete && further.every(({ complete }) => complete),
      incompleteReasons: [
        ...main.incompleteReasons,
        ...further.flatMap(({ incompleteReasons }, at) =>
          incompleteReasons.map(({ reason, text }) => ({
            // Records without an id are usually without one in every listing: that is one reason.
            reason: reason === 'rejected_records' && main.rejected > 0 ? reason : ('further_listing' as const),
            text: `listing of ${this.#further[at]?.name}: ${text}`,
          })),
        ),
      ],
      pages: further.reduce((sum, { pages }) => sum + pages, main.pages),
    };
    const before = this.#latest.snapshot;
    const snapshot = before && isSame(before, listed) ? before : listed;
    this.#latest = { memberships, joined, snapshot };
    return snapshot;
  }

  async #membershipsAfter(further: readonly Listing<string>[]): Promise<readonly Membership[]> {
    const memberships: Membership[] = [];
    for (const [at, listing] of further.entries())
      memberships.push(await membershipAfter(this.#latest.memberships[at] ?? NO_MEMBERS, listing, this.#tasks));
    return memberships;
  }

  /** The joined parts, by the parts as listed; empty when there is nothing to join. */
  async #join(
    parts: readonly Part<Resource>[],
    memberships: readonly Membership[],
    signal: AbortSignal,
  ): Promise<JoinedParts> {
    const { alertability, products, resourceLabels } = this.#spec;
    const isLabelling = resourceLabels.entries.length > 0;
    if (!alertability && products.length === 0 && !isLabelling) return new Map();
    const before = this.#latest;
    const join = new Join(this.#spec, memberships);
    const isSameJoin = hasSameElements(memberships, before.memberships);
    const outdated: Part<Resource>[] = [];
    await this.#tasks.forEach(parts, (part) => {
      const known = before.joined.get(part);
      if (!known || !(isSameJoin || known.every((resource) => join.isCurrent(resource)))) outdated.push(part);
    });
    const labels = isLabelling ? await this.#labelsOf(outdated, parts, join, signal) : undefined;
    const joined = new Map<Part<Resource>, Part<Resource>>();
    for (const part of parts) joined.set(part, before.joined.get(part) ?? part);
    await this.#tasks.forEach(outdated, (part) => {
      const partLabels = labels?.get(part);
      joined.set(
        part,
        part.map((resource, at) => join.joined(resource, partLabels?.[at] ?? NO_LABELS)),
      );
    });
    return joined;
  }

  /** The labels of the resources of these parts; a resource keeps them while all that its labels depend on is the same. */
  async #labelsOf(
    outdated: readonly Part<Resource>[],
    parts: readonly Part<Resource>[],
    join: Join,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Part<Resource>, readonly PartLabel[]>> {
    const labels = new Map<Part<Resource>, PartLabel[]>();
    // Most resources stay in their part, so that they are not searched for in the others.
    const formerParts = [...this.#latest.joined.values()];
    const positions = new Map(parts.map((part, at) => [part, at]));
    await this.#tasks.forEach(outdated, (part) => {
      const formerOf = formerResources(formerParts[positions.get(part) ?? -1] ?? []);
      const keptLabels = part.map((resource, at) => {
        const former = formerOf(resource, at);
        return former && hasSameLabels(former, resource, join.productOf(resource.id)) ? former.labels : undefined;
      });
      labels.set(part, keptLabels);
    });
    const { resourceLabels } = this.#spec;
    const labelOthers = function* () {
      for (const [part, partLabels] of labels) {
        if (!partLabels.includes(undefined)) continue;
        for (const [at, resource] of part.entries()) {
          if (partLabels[at]) continue;
          signal.throwIfAborted();
          const labelled = { ...resource, product: join.productOf(resource.id) };
          partLabels[at] = yield* resourceLabels.labelling(labelled);
          yield;
        }
      }
    };
    await this.#tasks.runSteps(labelOthers());
    return labels;
  }
}

/** The labels of a resource of a part, at its position; undefined as long as they are not known. */
type PartLabel = Resource['labels'] | undefined;

/** Finds the earlier state of a resource in its part: usually at the same position. */
function formerResources(part: Part<Resource>): (resource: Resource, at: number) => Resource | undefined {
  let byId: ReadonlyMap<string, Resource> | undefined;
  return ({ id }, at) => {
    const former = part[at];
    if (former?.id === id) return former;
    byId ??= new Map(part.map((resource) => [resource.id, resource]));
    return byId.get(id);
  };
}

type JoinedParts = ReadonlyMap<Part<Resource>, Part<Resource>>;

/** What the latest successful refresh has read. */
interface ReadState {
  /** One per further listing. */
  readonly memberships: readonly Membership[];
  readonly joined: JoinedParts;
  readonly snapshot: Snapshot | undefined;
}

/** A copy of the snapshot with the labels and the meanings of states of another configuration. */
export async function relabelled<L extends Pick<Snapshot, 'parts'>>(
  listing: L,
  { resourceLabels, states }: Pick<StationSpec, 'resourceLabels' | 'states'>,
  tasks: TaskQueue,
): Promise<L> {
  const relabelAll = function* () {
    const parts: Part<Resource>[] = [];
    for (const part of listing.parts) {
      const relabelledPart: Resource[] = [];
      for (const resource of part) {
        const alertState = states.alertStateOf(resource.state);
        relabelledPart.push({ ...resource, alertState, labels: yield* resourceLabels.labelling(resource) });
        yield;
      }
      parts.push(relabelledPart);
    }
    return parts;
  };
  return { ...listing, parts: await tasks.runSteps(relabelAll()) };
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
  readonly delayed?: () => void;
  readonly clock?: Clock;
}

/** Reads one snapshot within the station's refresh timeout, which counts from the admission of the first request. */
export async function takeSnapshot(
  reader: SnapshotReader,
  { name, refreshTimeoutMs }: Pick<StationSpec, 'name' | 'refreshTimeoutMs'>,
  { signal, dueAtMs, started, delayed, clock = systemClock }: RefreshOptions,
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
    delayed,
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

/** A listing beside the main one. */
interface FurtherListing {
  readonly name: string;
  readonly filters: ListingFilters;
}

/** Those of the products are the last ones, in their order. */
function furtherListings(spec: StationSpec): readonly FurtherListing[] {
  const alertable = { name: 'alertable resources', filters: { enabled_alert: true } };
  const products = spec.products.map((product) => ({ name: `product ${product}`, filters: { product } }));
  return listsAlertable(spec) ? [alertable, ...products] : products;
}

/** The ids in the latest listing of a product or of alertable resources. */
interface Membership {
  readonly parts: readonly Part<string>[];
  readonly ids: Pick<LargeMap<true>, 'has'>;
  readonly complete: boolean;
}

const NO_MEMBERS: Membership = { parts: [], ids: new LargeMap(), complete: false };

/** The same object when the listing did not change. */
async function membershipAfter(
  before: Membership,
  { parts, complete }: Listing<string>,
  tasks: TaskQueue,
): Promise<Membership> {
  const hasSameIds = hasSameElements(parts, before.parts);
  if (hasSameIds) return complete === before.complete ? before : { ...before, complete };
  const ids = new LargeMap<true>();
  await tasks.forEach(parts, (part) => {
    for (const id of part) ids.add(id, true);
  });
  return { parts, ids, complete };
}

/** Adds what the further listings say about a resource. */
class Join {
  readonly #spec: StationSpec;
  readonly #alertable: Membership | undefined;
  readonly #products: readonly Membership[];

  constructor(spec: StationSpec, memberships: readonly Membership[]) {
    this.#spec = spec;
    this.#alertable = listsAlertable(spec) ? memberships[0] : undefined;
    this.#products = memberships.slice(memberships.length - spec.products.length);
  }

  joined(resource: Resource, labels: Resource['labels']): Resource {
    // Field by field: this is done for every changed resource, and a spread takes three times as long.
    return {
      id: resource.id,
      name: resource.name,
      displayName: resource.displayName,
      type: resource.type,
      typeLabel: resource.typeLabel,
      state: resource.state,
      alertState: resource.alertState,
      sku: resource.sku,
      quantity: resource.quantity,
      gpuModel: resource.gpuModel,
      alertRules: resource.alertRules,
      createdSeconds: resource.createdSeconds,
      product: this.productOf(resource.id),
      alertable: this.#isAlertable(resource.id),
      labels,
    };
  }

  isCurrent({ id, product, alertable }: Resource): boolean {
    return product === this.productOf(id) && alertable === this.#isAlertable(id);
  }

  productOf(id: string): string {
    if (this.#products.length === 0) return '';
    return this.#spec.products[this.#products.findIndex(({ ids }) => ids.has(id))] ?? '';
  }

  /** A resource is known not to be alertable only when it is missing from a complete listing. */
  #isAlertable(id: string): boolean | undefined {
    const { alertability, filters } = this.#spec;
    if (!alertability) return undefined;
    if (filters.enabled_alert === true || this.#alertable?.ids.has(id)) return true;
    return this.#alertable?.complete ? false : undefined;
  }
}

/** Whether all that labels depend on is the same; `known` is an earlier state of the resource, with its product. */
function hasSameLabels(known: Resource, { name, displayName, type }: Resource, product: string): boolean {
  return known.name === name && known.displayName === displayName && known.type === type && known.product === product;
}
