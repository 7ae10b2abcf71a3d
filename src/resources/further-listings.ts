import type { Clock } from '../model/clock.ts';
import { hasSameElements, type List, type Listing, type Part, type RefreshContext } from '../model/listing.ts';
import { EARLY_SHARE } from '../model/station-spec.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import type { Resource } from './fields.ts';
import type { ResourceSpec } from './spec.ts';
import type { ListingFilters } from './station-keys.ts';

/** A listing beside the main one. */
export interface FurtherListing {
  readonly name: string;
  readonly filters: ListingFilters;
  /** After which time it is read again; 0: every refresh reads it. */
  readonly ttlMs: number;
}

/** Those of the products are the last ones, in their order. */
export function furtherListings(spec: ResourceSpec): readonly FurtherListing[] {
  const { alertabilityTtlMs, productsTtlMs } = spec;
  const alertable = { name: 'alertable resources', filters: { enabled_alert: true }, ttlMs: alertabilityTtlMs };
  const products = spec.products.map((product) => ({
    name: `product ${product}`,
    filters: { product },
    ttlMs: productsTtlMs,
  }));
  return listsAlertable(spec) ? [alertable, ...products] : products;
}

/** With the filter enabled_alert, the main listing contains alertable resources only. */
export function listsAlertable({ alertability, filters }: ResourceSpec): boolean {
  return alertability && filters.enabled_alert !== true;
}

/** The ids in a listing of a product or of alertable resources. */
export interface Membership {
  readonly parts: readonly Part<string>[];
  readonly ids: ReadonlySet<string>;
  readonly complete: boolean;
}

/** A further listing as it was last read. */
export interface DatedListing {
  readonly listing: Listing<string>;
  readonly membership: Membership;
  /** When it was requested, in monotonic milliseconds. */
  readonly requestedMs: number;
}

interface ReadBefore {
  /** One per further listing; empty before the first refresh. */
  readonly further: readonly DatedListing[];
  readonly main: readonly Part<Resource>[];
}

/** Reads the further listings of a station that are due: a listing that fails rejects. */
export class FurtherReader {
  readonly #spec: ResourceSpec;
  readonly #listings: readonly FurtherListing[];
  readonly #listIds: List<string>;
  readonly #clock: Clock;

  constructor(spec: ResourceSpec, listIds: List<string>, clock: Clock) {
    this.#spec = spec;
    this.#listings = furtherListings(spec);
    this.#listIds = listIds;
    this.#clock = clock;
  }

  /**
   * Reads those without a ttl concurrently with the main listing. The others follow it: only then it is known whether there are new
   * resources, and a listing that was read before could lack one of them until its ttl has passed.
   */
  async read(
    main: Promise<Listing<Resource>>,
    before: ReadBefore,
    context: RefreshContext,
  ): Promise<readonly DatedListing[]> {
    const concurrent = this.#listings.map((further, at) =>
      further.ttlMs === 0 ? this.#list(further, before.further[at], context) : undefined,
    );
    const [listed, ...taken] = await Promise.all([main, ...concurrent]);
    const areAllDue = await this.#hasNewIds(listed.parts, before);
    return Promise.all(
      this.#listings.map((further, at) => {
        const known = before.further[at];
        const isKept = known && !areAllDue && !this.#isDue(further, known);
        return taken[at] ?? (isKept ? known : this.#list(further, known, context));
      }),
    );
  }

  /** A listing that does not add up is read again with the next refresh. */
  #isDue({ ttlMs }: FurtherListing, { requestedMs, listing }: DatedListing): boolean {
    const ageMs = this.#clock.elapsedMs() - requestedMs;
    return !listing.addsUp || ageMs >= ttlMs * (1 - EARLY_SHARE);
  }

  async #list(
    { filters: ofListing }: FurtherListing,
    before: DatedListing | undefined,
    context: RefreshContext,
  ): Promise<DatedListing> {
    const requestedMs = this.#clock.elapsedMs();
    const listing = await this.#listIds({ ...this.#spec.filters, ...ofListing }, context);
    return { listing, membership: await membershipAfter(before?.membership, listing), requestedMs };
  }

  /** Whether the main listing has ids that it did not have before. Most of its parts are usually the same as before. */
  async #hasNewIds(parts: readonly Part<Resource>[], before: ReadBefore): Promise<boolean> {
    const hasTtls = this.#listings.some(({ ttlMs }) => ttlMs > 0);
    const knownParts = new Set(before.main);
    const otherParts = parts.filter((part) => !knownParts.has(part));
    if (!hasTtls || otherParts.length === 0) return false;
    const knownIds = new Set<string>();
    await forEachPart(before.main, (part) => {
      for (const { id } of part) knownIds.add(id);
    });
    return otherParts.some((part) => part.some(({ id }) => !knownIds.has(id)));
  }
}

/** The same object when the listing did not change. */
async function membershipAfter(
  before: Membership | undefined,
  { parts, complete }: Listing<string>,
): Promise<Membership> {
  if (before && hasSameElements(parts, before.parts))
    return complete === before.complete ? before : { ...before, complete };
  const ids = new Set<string>();
  await forEachPart(parts, (part) => {
    for (const id of part) ids.add(id);
  });
  return { parts, ids, complete };
}

/** A smaller main listing may have the same resources as those of its products. */
const MIN_RESOURCES = 10;

/** The products whose listings have every resource of the main one, if there are several: the service ignores the filter. Empty otherwise. */
export async function ignoredProducts(
  { products }: Pick<ResourceSpec, 'products'>,
  { parts, size }: Listing<Resource>,
  further: readonly DatedListing[],
): Promise<readonly string[]> {
  const first = further.length - products.length;
  let all = products
    .map((product, at) => ({ product, ids: (further[first + at] as DatedListing).membership.ids }))
    .filter(({ ids }) => ids.size >= size);
  if (size < MIN_RESOURCES || all.length < 2) return [];
  await forEachPart(parts, (part) => {
    all = all.filter(({ ids }) => part.every(({ id }) => ids.has(id)));
  });
  return all.length < 2 ? [] : all.map(({ product }) => product);
}
