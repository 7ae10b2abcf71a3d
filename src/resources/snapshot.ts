import { type Clock, systemClock } from '../model/clock.ts';
import {
  hasSameElements,
  type List,
  type Listing,
  type PagesPerInterval,
  type Part,
  type RefreshContext,
  type StationSource,
} from '../model/listing.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { joinedResource, type Resource } from './fields.ts';
import {
  type DatedListing,
  FurtherReader,
  furtherListings,
  ignoredProducts,
  listsAlertable,
  type Membership,
} from './further-listings.ts';
import { InternedTexts } from './interned-texts.ts';
import { ID_LISTING, resourceListing } from './listings.ts';
import { isMatchedLike } from './resource-labels.ts';
import type { ResourceSpec } from './spec.ts';

/** A station's resources at one point in time, immutable. Parts that did not change are shared with the previous snapshot. */
export interface Snapshot extends Listing<Resource> {
  /** The main listing alone, whatever the further ones are. */
  readonly main: Pick<Listing<Resource>, 'addsUp'>;
  /** The service ignores the filter `product`, so that no resource has a product. */
  readonly ignoresProduct: boolean;
  /** Requests of the refresh, all listings together that it has read. */
  readonly pages: number;
  /** What the listings cost that it was joined from: the main one first. */
  readonly repeated: readonly PagesPerInterval[];
}

interface SnapshotSettings {
  readonly source: StationSource;
  /** Types, states and skus, which are mostly the same for all stations of an upstream. */
  readonly texts?: InternedTexts | undefined;
  /** Measures the age of further listings. */
  readonly clock?: Clock;
}

/** Reads a station's snapshots, reusing what did not change since the previous one. */
export class SnapshotReader {
  readonly #spec: ResourceSpec;
  readonly #list: List<Resource>;
  readonly #further: FurtherReader;
  /** Replaced as a whole at the end of a refresh: one that ends early must leave nothing for the next. */
  #latest: ReadState = { main: [], further: [], snapshot: undefined };
  /** By the part as listed. An aborted refresh may have added some, which say what they were joined with. */
  readonly #joined = new WeakMap<Part<Resource>, ResourcePart>();

  constructor(spec: ResourceSpec, { source, texts = new InternedTexts(), clock = systemClock }: SnapshotSettings) {
    this.#spec = spec;
    this.#list = source.lister(resourceListing({ texts, states: spec.states, absentFields: spec.absentFields }));
    this.#further = new FurtherReader(spec, source.lister(ID_LISTING), clock);
  }

  /**
   * Lists the station, and its products and alertable resources if they are due, and joins them by id; returns the previous snapshot
   * if it is unchanged.
   */
  async read(context: RefreshContext): Promise<Snapshot> {
    const before = this.#latest;
    const listing = this.#list(this.#spec.filters, context);
    const further = await this.#further.read(listing, before, context);
    const main = await listing;
    const ignored = await ignoredProducts(this.#spec, main, further);
    const memberships = usedMemberships(this.#spec, further, ignored.length > 0);
    const isNew = (latest: DatedListing, at: number) => latest.listing !== before.further[at]?.listing;
    const listed: Snapshot = {
      ...main,
      parts: await this.#join(main.parts, memberships, context.signal),
      ...combinedListing(this.#spec, main, further, ignored),
      pages: further.filter(isNew).reduce((sum, { listing: { pages } }) => sum + pages, main.pages),
    };
    const snapshot = before.snapshot && isSame(before.snapshot, listed) ? before.snapshot : listed;
    this.#latest = { main: main.parts, further, snapshot };
    return snapshot;
  }

  /** The parts with what the further listings and the configuration say about each resource; as listed when there is nothing to join. */
  async #join(
    parts: readonly Part<Resource>[],
    memberships: readonly Membership[],
    signal: AbortSignal,
  ): Promise<readonly Part<Resource>[]> {
    const { alertability, products, resourceLabels } = this.#spec;
    if (!alertability && products.length === 0 && resourceLabels.entries.length === 0) return parts;
    const before = this.#latest.snapshot?.parts ?? [];
    const join = new Join(this.#spec, memberships);
    const joined: Part<Resource>[] = [];
    await forEachPart(parts, (part, index) => {
      const known = this.#joined.get(part);
      const isCurrent = known && (hasSameElements(known.memberships, memberships) || join.isCurrent(known.resources));
      const resources = isCurrent ? known.resources : join.joined(part, before[index], signal);
      this.#joined.set(part, { resources, memberships });
      joined.push(resources);
    });
    return joined;
  }
}

/** The resources of a part, and what they were joined with. */
interface ResourcePart {
  readonly resources: Part<Resource>;
  /** What the further listings said, one per listing. */
  readonly memberships: readonly Membership[];
}

/** What the latest successful refresh has read. */
interface ReadState {
  /** The parts of the main listing, as listed. */
  readonly main: readonly Part<Resource>[];
  /** One per further listing; empty before the first refresh. */
  readonly further: readonly DatedListing[];
  readonly snapshot: Snapshot | undefined;
}

const NO_MEMBERS: Membership = { parts: [], ids: new Set(), complete: false };

/** The listings of products have no members if they are ignored. */
function usedMemberships({ products }: ResourceSpec, further: readonly DatedListing[], isProductIgnored: boolean) {
  const firstProduct = isProductIgnored ? further.length - products.length : further.length;
  return further.map(({ membership }, at) => (at < firstProduct ? membership : NO_MEMBERS));
}

/** What the main and the further listings together say about the snapshot as a whole; `ignored`: see `ignoredProducts`. */
function combinedListing(
  spec: ResourceSpec,
  main: Listing<Resource>,
  further: readonly DatedListing[],
  ignored: readonly string[],
) {
  const cacheTtlMs = spec.cache.ttlMs;
  const repeated = [{ pages: main.pages, intervalMs: cacheTtlMs }];
  const incompleteReasons = [...main.incompleteReasons];
  for (const [at, { name, ttlMs }] of furtherListings(spec).entries()) {
    const { listing } = further[at] as DatedListing;
    repeated.push({ pages: listing.pages, intervalMs: Math.max(cacheTtlMs, ttlMs) });
    for (const { reason, text } of listing.incompleteReasons)
      incompleteReasons.push({
        // Records without an id are usually without one in every listing: that is one reason.
        reason: reason === 'rejected_records' && main.rejected > 0 ? reason : 'further_listing',
        text: `listing of ${name}: ${text}`,
      });
  }
  const ignoresProduct = ignored.length > 0;
  if (ignoresProduct)
    incompleteReasons.push({
      reason: 'further_listing',
      text: `the service ignores the filter product: the listings of ${ignored.slice(0, 2).join(' and ')} have all ${main.size} resources`,
    });
  return {
    repeated,
    main: { addsUp: main.addsUp },
    ignoresProduct,
    addsUp: main.addsUp && !ignoresProduct && further.every(({ listing }) => listing.addsUp),
    complete: main.complete && !ignoresProduct && further.every(({ listing }) => listing.complete),
    incompleteReasons,
  };
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  return hasSameElements(a.parts, b.parts) && JSON.stringify(withoutParts(a)) === JSON.stringify(withoutParts(b));
}

/** Invalid fields are left out because they change only together with the parts. */
function withoutParts({ parts, invalid, ...others }: Snapshot): object {
  return others;
}

/** Adds what the further listings say about a resource. */
class Join {
  readonly #spec: ResourceSpec;
  readonly #alertable: Membership | undefined;
  readonly #products: readonly Membership[];

  constructor(spec: ResourceSpec, memberships: readonly Membership[]) {
    this.#spec = spec;
    this.#alertable = listsAlertable(spec) ? memberships[0] : undefined;
    this.#products = memberships.slice(memberships.length - spec.products.length);
  }

  /** `former`: the rows of the part that had its place. One keeps its labels while no field that entries match has changed: the expressions take long. */
  joined(part: Part<Resource>, former: Part<Resource> | undefined, signal: AbortSignal): Part<Resource> {
    return part.map((row, at) => {
      signal.throwIfAborted();
      const product = this.#productOf(row.id);
      const inPlace = former?.[at];
      const isLabelled = inPlace?.product === product && isMatchedLike(inPlace, row);
      const { labels, exemptBy } = isLabelled ? inPlace : this.#spec.resourceLabels.labelled({ ...row, product });
      return joinedResource(row, { product, listedAlertable: this.#isAlertable(row.id), exemptBy, labels });
    });
  }

  isCurrent(resources: Part<Resource>): boolean {
    return resources.every(
      ({ id, product, listedAlertable }) =>
        product === this.#productOf(id) && listedAlertable === this.#isAlertable(id),
    );
  }

  #productOf(id: string): string {
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
