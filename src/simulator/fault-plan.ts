import { effectOf, type Fault, type FaultEffect, type When } from './faults.ts';
import type { ListingRequest } from './listing-request.ts';
import { hash, hashText, randomFrom } from './random.ts';

/** The part of a request that conditions depend on. */
type MatchedRequest = Pick<ListingRequest, 'station' | 'filters' | 'offset'>;

/** The effects on a request, called in order of arrival. */
export type FaultPlan = (request: MatchedRequest, atMs: number) => readonly FaultEffect[];

export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const planned = faults.map((fault, index) => new PlannedFault(fault, hash(seed, index, hashText(fault.kind))));
  return (request, atMs) => planned.flatMap((fault) => fault.effect(request, atMs) ?? []);
}

/** Its only state is the request counts, so that the same sequence of requests always meets the same faults. */
class PlannedFault {
  readonly #fault: Fault;
  readonly #seed: number;
  readonly #counts = new Map<string, number>();

  constructor(fault: Fault, seed: number) {
    this.#fault = fault;
    this.#seed = seed;
  }

  effect(request: MatchedRequest, atMs: number): FaultEffect | undefined {
    const when = this.#fault.when ?? {};
    if (!matches(when, request)) return undefined;
    const requests = this.#count([request.station], 1);
    const listings = this.#count([request.station, request.filters], request.offset === 0 ? 1 : 0);
    if (requests > (when.first ?? requests) || listings > (when.firstListings ?? listings)) return undefined;
    const seed = hash(this.#seed, hashText(request.station));
    const drawn = when.periodMs === undefined ? requests : Math.floor(atMs / when.periodMs);
    if (randomFrom(hash(seed, drawn, 2))() >= (when.share ?? 1)) return undefined;
    return effectOf(this.#fault, randomFrom(hash(seed, requests, 1)));
  }

  #count(by: readonly unknown[], change: number): number {
    const key = JSON.stringify(by);
    const count = (this.#counts.get(key) ?? 0) + change;
    this.#counts.set(key, count);
    return count;
  }
}

function matches({ offset, filter, filterValue }: When, request: MatchedRequest): boolean {
  if (offset !== undefined && offset !== request.offset) return false;
  if (filter === undefined) return true;
  const values = request.filters[filter] ?? [];
  return filterValue === undefined ? values.length > 0 : values.includes(filterValue);
}
