import type { Call, Refusal } from './call.ts';
import { failureEffects, quirkEffects } from './fault-effects.ts';
import type { Effect, Fault, When } from './faults.ts';
import { hash, hashText, type Random, randomFrom } from './random.ts';

/** As much of a call as a fault's limits look at. */
type FaultQuestion = Pick<Call, 'filters' | 'offset'>;

/** What faults do to the requests of one station, told in the order in which they arrive. */
export type FaultPlan = (asked: FaultQuestion, atMs: number) => readonly Effect[];

/** The plan's only state is its counts, so that the same requests in the same order always meet the same faults. */
export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const planned = faults.map((fault, index) => ({ fault, seed: hash(seed, index, hashText(fault.kind)), counts: new Counts() }));
  return (asked, atMs) =>
    planned.flatMap(({ fault, seed: faultSeed, counts }) => {
      const when = fault.when ?? {};
      if (!concerns(when, asked)) return [];
      const count = counts.next(asked);
      return strikes(when, count, faultSeed, atMs) ? effectOf(fault, randomFrom(hash(faultSeed, count.request, 1))) : [];
    });
}

interface Count {
  readonly request: number;
  readonly listing: number;
}

class Counts {
  #requests = 0;
  readonly #listings = new Map<string, number>();

  next({ filters, offset }: FaultQuestion): Count {
    this.#requests += 1;
    const key = JSON.stringify(filters);
    const listing = (this.#listings.get(key) ?? 0) + (offset === 0 ? 1 : 0);
    this.#listings.set(key, listing);
    return { request: this.#requests, listing };
  }
}

function concerns({ offset, filter, filterValue }: When, asked: FaultQuestion): boolean {
  if (offset !== undefined && offset !== asked.offset) return false;
  if (filter === undefined) return true;
  if (filter === 'none') return Object.keys(asked.filters).length === 0;
  const values = asked.filters[filter] ?? [];
  return values.length > 0 && (filterValue === undefined || values.includes(filterValue));
}

function strikes({ nth, first, firstListings, share, periodMs }: When, count: Count, seed: number, atMs: number): boolean {
  if (nth !== undefined && ![nth].flat().includes(count.request)) return false;
  if (first !== undefined && count.request > first) return false;
  if (firstListings !== undefined && count.listing > firstListings) return false;
  if (share === undefined) return true;
  const drawn = periodMs === undefined ? count.request : Math.floor(atMs / periodMs);
  return randomFrom(hash(seed, drawn, 2))() < share;
}

const effects = { ...quirkEffects, ...failureEffects };

function effectOf(fault: Fault, random: Random): Effect {
  const effect = effects[fault.kind] as (fault: Fault, random: Random) => Effect;
  return effect(fault, random);
}

/** Stands for every station, and for requests that ask for none. */
const EVERY_STATION = '*';

/** The faults of every station, which can be changed at any time. */
export class FaultRegistry {
  readonly #seed: number;
  readonly #chapters = new Map<string, { readonly faults: readonly Fault[]; readonly plans: Map<string, FaultPlan> }>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Replaces what was set under this name, and starts its counts anew. */
  set(station: string, faults: readonly Fault[]): void {
    this.#chapters.set(station, { faults, plans: new Map() });
  }

  /** What strikes this request: the faults of every station first, then the station's own. */
  effects(call: Call | Refusal, atMs: number): readonly Effect[] {
    const { station, ...asked } =
      'path' in call ? { station: call.path.telemetryStation, ...call } : { station: EVERY_STATION, filters: {}, offset: 0 };
    return [...new Set([EVERY_STATION, station])].flatMap((chapter) => this.#plan(chapter, station)?.(asked, atMs) ?? []);
  }

  #plan(name: string, station: string): FaultPlan | undefined {
    const chapter = this.#chapters.get(name);
    if (chapter === undefined) return undefined;
    const plan = chapter.plans.get(station) ?? faultPlan(chapter.faults, hash(this.#seed, hashText(name), hashText(station)));
    chapter.plans.set(station, plan);
    return plan;
  }
}
