import { effectOf, type Fault, type FaultEffect, type When } from './faults.ts';
import type { ListingRequest, RejectedRequest } from './listing-request.ts';
import { hash, hashText, randomFrom } from './random.ts';

/** The part of a request that conditions depend on. */
type MatchedRequest = Pick<ListingRequest, 'filters' | 'offset'>;

/** The effects on the requests of one station, called in order of arrival. */
export type FaultPlan = (request: MatchedRequest, atMs: number) => readonly FaultEffect[];

/** Its only state is the request counts, so that the same sequence of requests always meets the same faults. */
export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const planned = faults.map((fault, index) => ({
    fault,
    seed: hash(seed, index, hashText(fault.kind)),
    counter: new RequestCounter(),
  }));
  return (request, atMs) =>
    planned.flatMap(({ fault, seed: faultSeed, counter }) => {
      const when = fault.when ?? {};
      if (!matches(when, request)) return [];
      const count = counter.next(request);
      return applies(when, count, faultSeed, atMs)
        ? effectOf(fault, randomFrom(hash(faultSeed, count.request, 1)))
        : [];
    });
}

interface RequestCount {
  readonly request: number;
  readonly listing: number;
}

class RequestCounter {
  #requests = 0;
  readonly #listings = new Map<string, number>();

  next({ filters, offset }: MatchedRequest): RequestCount {
    this.#requests += 1;
    const key = JSON.stringify(filters);
    const listing = (this.#listings.get(key) ?? 0) + (offset === 0 ? 1 : 0);
    this.#listings.set(key, listing);
    return { request: this.#requests, listing };
  }
}

function matches({ offset, filter, filterValue }: When, request: MatchedRequest): boolean {
  if (offset !== undefined && offset !== request.offset) return false;
  if (filter === undefined) return true;
  if (filter === 'none') return Object.keys(request.filters).length === 0;
  const values = request.filters[filter] ?? [];
  return values.length > 0 && (filterValue === undefined || values.includes(filterValue));
}

function applies(
  { nth, first, firstListings, share, periodMs }: When,
  count: RequestCount,
  seed: number,
  atMs: number,
): boolean {
  if (nth !== undefined && ![nth].flat().includes(count.request)) return false;
  if (first !== undefined && count.request > first) return false;
  if (firstListings !== undefined && count.listing > firstListings) return false;
  if (share === undefined) return true;
  const drawn = periodMs === undefined ? count.request : Math.floor(atMs / periodMs);
  return randomFrom(hash(seed, drawn, 2))() < share;
}

/** The key of faults for every station, and for requests that match no station. */
const EVERY_STATION = '*';

interface RegisteredFaults {
  readonly faults: readonly Fault[];
  /** By station: each counts its own requests. */
  readonly plans: Map<string, FaultPlan>;
}

/** The faults in force, by station. */
export class FaultRegistry {
  readonly #seed: number;
  readonly #registered = new Map<string, RegisteredFaults>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Replaces the faults of a station and resets their request counts. */
  set(station: string, faults: readonly Fault[]): void {
    this.#registered.set(station, { faults, plans: new Map() });
  }

  /** The effects on this request: faults of every station first, then the station's own. */
  effects(request: ListingRequest | RejectedRequest, atMs: number): readonly FaultEffect[] {
    const { station, ...matched } =
      'path' in request
        ? { station: request.path.telemetryStation, ...request }
        : { station: EVERY_STATION, filters: {}, offset: 0 };
    return [...new Set([EVERY_STATION, station])].flatMap((key) => this.#plan(key, station)?.(matched, atMs) ?? []);
  }

  #plan(key: string, station: string): FaultPlan | undefined {
    const registered = this.#registered.get(key);
    if (registered === undefined) return undefined;
    const plan =
      registered.plans.get(station) ?? faultPlan(registered.faults, hash(this.#seed, hashText(key), hashText(station)));
    registered.plans.set(station, plan);
    return plan;
  }
}
