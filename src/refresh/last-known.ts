import { quantityReader, type Resource } from '../model/resource.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { add, getOrCreate, newCounts, type Quantities } from './aggregates.ts';
import type { LabelValues } from './label-values.ts';
import type { Snapshot } from './snapshot.ts';

/** What is known of a station from its listings so far: an incomplete one leaves it as it was. */
export interface LastKnown {
  /** Unique ids and rejected records of the latest main listing that adds up; undefined before the first one. */
  readonly verifiedResources: number | undefined;
  /** Of the latest complete listing; 0 for a GPU model or unit that only an earlier one had. */
  readonly verifiedQuantities: Quantities;
  /** Firing resources by id, and those of which no listing says that they no longer fire. */
  readonly firing: ReadonlyMap<string, Resource>;
}

export const NOTHING_KNOWN: LastKnown = {
  verifiedResources: undefined,
  verifiedQuantities: new Map(),
  firing: new Map(),
};

/** What is known after the next snapshot. */
export async function lastKnownAfter(before: LastKnown, next: Snapshot, values: LabelValues): Promise<LastKnown> {
  const { size, rejected, main, complete } = next;
  return {
    verifiedResources: main.addsUp ? size + rejected : before.verifiedResources,
    verifiedQuantities: complete
      ? await quantitiesAfter(before.verifiedQuantities, next, values)
      : before.verifiedQuantities,
    firing: await firingAfter(before.firing, next),
  };
}

/** An alert compares a sum with earlier ones: one that ended when the last resource is gone could not be compared. */
async function quantitiesAfter(before: Quantities, { parts }: Snapshot, values: LabelValues): Promise<Quantities> {
  const sums = new Map<string, Map<string, number>>();
  for (const [gpuModel, units] of before)
    for (const unit of units.keys()) add(getOrCreate(sums, gpuModel, newCounts), unit, 0);
  const quantityOf = quantityReader();
  await forEachPart(parts, (part) => {
    for (const { sku, gpuModel } of part) {
      const quantity = quantityOf(sku);
      if (!quantity) continue;
      const units = getOrCreate(sums, values.published('gpu_model', gpuModel), newCounts);
      add(units, values.published('unit', quantity.unit), quantity.value);
    }
  });
  return sums;
}

/** A resource that fired stays until a listing shows it with another known meaning, or a complete main listing does not have it. */
async function firingAfter(before: LastKnown['firing'], { parts, main }: Snapshot): Promise<LastKnown['firing']> {
  const firing = new Map<string, Resource>();
  const listed = new Set<string>();
  await forEachPart(parts, (part) => {
    for (const resource of part) {
      const { id, alertState } = resource;
      const fired = before.has(id);
      if (fired) listed.add(id);
      if (alertState === 'firing' || (fired && alertState === 'unknown')) firing.set(id, resource);
    }
  });
  if (main.complete) return firing;
  for (const [id, resource] of before) if (!listed.has(id)) firing.set(id, resource);
  return firing;
}
