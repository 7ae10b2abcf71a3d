import type { Clock } from '../model/clock.ts';
import { type FailureSummary, failureOf, ListingFailure } from '../model/failure.ts';
import { LargeMap } from '../model/large-map.ts';
import {
  hasSameElements,
  type Listing,
  type ListingContext,
  type ListingFilters,
  type Part,
  type StationSource,
} from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { TaskQueue } from '../tasks/task-queue.ts';

/** A listing beside the main one. */
export interface FurtherListing {
  readonly name: string;
  readonly filters: ListingFilters;
  /** Which setting of the station says for how long it is kept. */
  readonly ttl: 'productsTtlMs' | 'alertabilityTtlMs';
}

/** Those of the products are the last ones, in their order. */
export function furtherListings(spec: FurtherSettings): readonly FurtherListing[] {
  const alertable = {
    name: 'alertable resources',
    filters: { enabled_alert: true },
    ttl: 'alertabilityTtlMs',
  } as const;
  const products = spec.products.map(
    (product) => ({ name: `product ${product}`, filters: { product }, ttl: 'productsTtlMs' }) as const,
  );
  return listsAlertable(spec) ? [alertable, ...products] : products;
}

type FurtherSettings = Pick<StationSpec, 'products' | 'alertability' | 'filters'>;

/** With the filter enabled_alert, the main listing contains alertable resources only. */
export function listsAlertable({ alertability, filters }: Omit<FurtherSettings, 'products'>): boolean {
  return alertability && filters.enabled_alert !== true;
}

/** The ids in a listing of a product or of alertable resources. */
export interface Membership {
  readonly parts: readonly Part<string>[];
  readonly ids: Pick<LargeMap<true>, 'has'>;
  readonly complete: boolean;
  /** Resources that were added after it was read: it does not say whether they are members. */
  readonly undecided: ReadonlySet<string>;
}

/** A further listing as it was last read. */
export interface TakenListing {
  readonly listing: Listing<string>;
  readonly membership: Membership;
  /** undefined: without a ttl it is not kept. */
  readonly kept: KeptFacts | undefined;
  /** Why it could not be read again when it was due. */
  readonly failure: FailureSummary | undefined;
}

interface KeptFacts {
  /** When it was requested, by the clock of the reader, and as a published time. */
  readonly takenMs: number;
  readonly takenWallMs: number;
  /** From 0 up to 1: by how much of JITTER it is due before its ttl has passed. */
  readonly jitter: number;
  /** The ids of the main listing before it. */
  readonly mainIds: MainIds;
}

/** Stations that were started together must not all be due together, even when the ttl is only some refreshes long. */
const JITTER = 0.2;

const NO_IDS: ReadonlySet<string> = new Set();

interface ReaderOptions {
  readonly tasks: TaskQueue;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Reads the further listings of a station, or keeps what was read of them before. */
export class FurtherReader {
  readonly #spec: StationSpec;
  readonly #listings: readonly FurtherListing[];
  readonly #source: StationSource;
  readonly #options: ReaderOptions;

  constructor(spec: StationSpec, source: StationSource, options: ReaderOptions) {
    this.#spec = spec;
    this.#listings = furtherListings(spec);
    this.#source = source;
    this.#options = options;
  }

  /**
   * Reads those without a ttl concurrently with the main listing. The others follow it: only then it is known whether there are new
   * resources, and a listing that was read before could lack one of them for as long as it is kept. `listsAll`: all are due.
   */
  async read(
    main: Promise<Listing<Resource>>,
    before: readonly TakenListing[],
    context: ListingContext,
    listsAll: boolean,
  ): Promise<readonly TakenListing[]> {
    const { random, tasks } = this.#options;
    const early = this.#listings.map((further) => {
      const mayBeKept = this.#spec[further.ttl] > 0;
      return mayBeKept ? undefined : this.#list(further, context);
    });
    const [listed, ...lists] = await Promise.all([main, ...early]);
    let mainIds: Promise<MainIds> | undefined;
    const readMainIds = () => {
      mainIds ??= MainIds.of(listed.parts, tasks);
      return mainIds;
    };
    const refresh = { listed, readMainIds, context, listsAll, jitter: random() };
    return Promise.all(
      this.#listings.map((further, at) => {
        const list = lists[at];
        return list ? this.#taken(list, before[at]) : this.#keptOrRead(further, before[at], refresh);
      }),
    );
  }

  /** What another reader of the same data has read, by the clock of this one. */
  takenOver(taken: readonly TakenListing[], nowOfOther: number): readonly TakenListing[] {
    const differenceMs = this.#options.clock.elapsedMs() - nowOfOther;
    return taken.map(({ kept, ...listing }) => ({
      ...listing,
      kept: kept && { ...kept, takenMs: kept.takenMs + differenceMs },
    }));
  }

  async #keptOrRead(
    further: FurtherListing,
    before: TakenListing | undefined,
    { listed, readMainIds, context, listsAll, jitter }: FurtherRefresh,
  ): Promise<TakenListing> {
    const { clock, tasks } = this.#options;
    const ttlMs = this.#spec[further.ttl];
    const takenMs = clock.elapsedMs();
    const takenWallMs = clock.wallMs();
    if (!before?.kept) {
      const list = await this.#list(further, context);
      return this.#taken(list, before, { takenMs, takenWallMs, jitter, mainIds: await readMainIds() });
    }
    const { kept, listing, membership, failure } = before;
    const ageMs = takenMs - kept.takenMs;
    const undecided = await kept.mainIds.newIn(listed.parts, tasks);
    const isYoung = ageMs < ttlMs * (1 - JITTER * kept.jitter);
    // A listing that does not add up is no better for being kept.
    if (isYoung && undecided.size === 0 && listing.addsUp && !failure && !listsAll) return before;
    try {
      const list = await this.#list(further, context);
      const hasSameIds = undecided.size === 0 && kept.mainIds.size === listed.size;
      const mainIds = hasSameIds ? kept.mainIds : await readMainIds();
      return await this.#taken(list, before, { takenMs, takenWallMs, jitter, mainIds });
    } catch (error) {
      const isUsable = ageMs <= Math.max(this.#spec.cache.maxStaleMs, ttlMs);
      if (!isUsable || context.signal.aborted || !(error instanceof ListingFailure)) throw error;
      const { reason, message, status } = failureOf(error);
      return { listing, membership: { ...membership, undecided }, kept, failure: { reason, message, status } };
    }
  }

  #list({ filters }: FurtherListing, context: ListingContext): Promise<Listing<string>> {
    const { path, filters: ofStation } = this.#spec;
    return this.#source.listIds({ path, filters: { ...ofStation, ...filters } }, context);
  }

  async #taken(listing: Listing<string>, before: TakenListing | undefined, kept?: KeptFacts): Promise<TakenListing> {
    const membership = await membershipAfter(before?.membership, listing, this.#options.tasks);
    return { listing, membership, kept, failure: undefined };
  }
}

/** What the further listings of a refresh have in common. */
interface FurtherRefresh {
  /** The main listing. */
  readonly listed: Listing<Resource>;
  /** Its ids, the same object for all. */
  readonly readMainIds: () => Promise<MainIds>;
  readonly context: ListingContext;
  readonly listsAll: boolean;
  readonly jitter: number;
}

/** The same object when the listing did not change. */
async function membershipAfter(
  before: Membership | undefined,
  { parts, complete }: Listing<string>,
  tasks: TaskQueue,
): Promise<Membership> {
  if (before && hasSameElements(parts, before.parts)) {
    const isSame = complete === before.complete && before.undecided.size === 0;
    return isSame ? before : { ...before, complete, undecided: NO_IDS };
  }
  const ids = new LargeMap<true>();
  await tasks.forEach(parts, (part) => {
    for (const id of part) ids.add(id, true);
  });
  return { parts, ids, complete, undecided: NO_IDS };
}

/** The ids of a main listing. */
class MainIds {
  readonly #ids = new LargeMap<true>();
  /** Parts without other ids: most parts of a listing are the same as in the one before. */
  readonly #known = new WeakSet<Part<Resource>>();

  static async of(parts: readonly Part<Resource>[], tasks: TaskQueue): Promise<MainIds> {
    const mainIds = new MainIds();
    await tasks.forEach(parts, (part) => mainIds.#add(part));
    return mainIds;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** The ids that are not among these. */
  async newIn(parts: readonly Part<Resource>[], tasks: TaskQueue): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const unknownParts = parts.filter((part) => !this.#known.has(part));
    await tasks.forEach(unknownParts, (part) => {
      const others = part.filter(({ id }) => !this.#ids.has(id));
      if (others.length === 0) this.#known.add(part);
      for (const { id } of others) found.add(id);
    });
    return found;
  }

  #add(part: Part<Resource>): void {
    this.#known.add(part);
    for (const { id } of part) this.#ids.add(id, true);
  }
}
