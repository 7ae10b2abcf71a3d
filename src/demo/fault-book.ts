import type { Call, Refusal } from './call.ts';
import type { Effect } from './effect.ts';
import { type FaultPlan, faultPlan } from './fault-plan.ts';
import type { Fault } from './faults.ts';
import { hash, hashText } from './random.ts';

/** Stands for every station, and for requests that ask for none. */
const EVERY_STATION = '*';

/** The faults of every station, which can be changed at any time. */
export class FaultBook {
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
