import type { Part } from '../model/listing.ts';
import { add, getOrCreate, newCounts } from '../model/sums.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { type Aggregates, countByAlertState, type Quantities } from './aggregates.ts';
import type { Comparison } from './comparison.ts';
import type { Resource } from './fields.ts';
import type { Snapshot } from './snapshot.ts';
import type { ResourceSpec } from './spec.ts';

/**
 * Sets of the resources of a station, of which the first has the others: `firing` ones, or that fired when that was last known, those in states
 * of `unknown` meaning, and those `missing` from the reported total, as rejected records are.
 */
export const RESOURCE_SETS = ['all', 'firing', 'unknown', 'missing'] as const;

/** The size of each set; undefined: nothing says how many are missing. */
export interface ResourceSets extends Readonly<Record<(typeof RESOURCE_SETS)[number], number | undefined>> {
  readonly all: number;
  readonly firing: number;
  readonly unknown: number;
}

/** What is known of a station from its listings so far: one that cannot be compared leaves it as it was. */
export interface LastKnown {
  readonly sets: ResourceSets;
  /** Unique ids and rejected records of the latest main listing that adds up; undefined before the first one. */
  readonly verifiedResources: number | undefined;
  /** Of the latest listing that could be compared; 0 for a GPU model or unit that only an earlier one had. */
  readonly verifiedQuantities: Quantities;
  /** What the latest listing has as firing, by id. */
  readonly firing: ReadonlyMap<string, Resource>;
  /** What fired and may still fire, by id, the latest listed first: it is not listed, or its state has an unknown meaning. */
  readonly held: ReadonlyMap<string, HeldResource>;
}

interface HeldResource {
  readonly resource: Resource;
  /** When it was last listed, in monotonic milliseconds. */
  readonly listedMs: number;
}

export const NOTHING_KNOWN: LastKnown = {
  sets: { all: 0, firing: 0, unknown: 0, missing: undefined },
  verifiedResources: undefined,
  verifiedQuantities: new Map(),
  firing: new Map(),
  held: new Map(),
};

interface LastKnownOptions {
  readonly spec: Pick<ResourceSpec, 'cache' | 'metrics'>;
  readonly comparison: Comparison;
  readonly aggregates: Pick<Aggregates, 'groups'>;
  /** When the snapshot before was listed, in monotonic milliseconds. */
  readonly beforeMs: number;
}

export async function lastKnownAfter(before: LastKnown, next: Snapshot, options: LastKnownOptions): Promise<LastKnown> {
  const { size, rejected, main } = next;
  const verifiedResources = main.addsUp ? size + rejected : before.verifiedResources;
  const limit = Math.max(options.spec.metrics.maxFiringResources, verifiedResources ?? 0);
  const fired = await firingAfter(before, next, limit, options);
  return {
    sets: setsOf(next, fired, verifiedResources, options),
    verifiedResources,
    verifiedQuantities: quantitiesAfter(before.verifiedQuantities, options),
    ...fired,
  };
}

type Fired = Pick<LastKnown, 'firing' | 'held'>;

/** A listing that does not add up is compared with what the service reports or, if it reports nothing, with the one before that did. */
function setsOf(
  { size, rejected, main, reportedTotal }: Snapshot,
  { firing, held }: Fired,
  verifiedResources: number | undefined,
  { aggregates, comparison: { nowMs } }: LastKnownOptions,
): ResourceSets {
  const listed = size + rejected;
  const notListed = [...held.values()].filter(({ listedMs }) => listedMs < nowMs).length;
  const expected = main.addsUp ? listed : (reportedTotal ?? verifiedResources);
  return {
    all: Math.max(listed + notListed, expected ?? 0),
    firing: firing.size + held.size,
    unknown: countByAlertState(aggregates).get('unknown') ?? 0,
    missing: expected === undefined ? undefined : Math.max(expected - size, 0),
  };
}

/** The same under another configuration; `parts` are those of the latest listing under it. What fired, and now has an unknown meaning, may still fire. */
export async function lastKnownAs(
  derived: (resource: Resource) => Resource,
  { firing: fired, held, ...known }: LastKnown,
  parts: readonly Part<Resource>[],
): Promise<LastKnown> {
  const mayFire = ({ alertState }: Resource) => alertState === 'firing' || alertState === 'unknown';
  const firing = new Map<string, Resource>();
  for (const [id, resource] of fired) if (mayFire(derived(resource))) firing.set(id, derived(resource));
  await forEachPart(parts, (part) => {
    for (const resource of part) if (resource.alertState === 'firing') firing.set(resource.id, resource);
  });
  const stillHeld = Array.from(
    held,
    ([id, { resource, listedMs }]) => [id, { resource: derived(resource), listedMs }] as const,
  );
  return { ...known, firing, held: new Map(stillHeld.filter(([, { resource }]) => mayFire(resource))) };
}

/** An alert compares a sum with earlier ones: one that ended when the last resource is gone could not be compared. */
function quantitiesAfter(before: Quantities, { comparison, aggregates }: LastKnownOptions): Quantities {
  const { result, base } = comparison;
  if (result === 'incomparable') return base ? before : NOTHING_KNOWN.verifiedQuantities;
  const sums = new Map<string, Map<string, number>>();
  for (const [gpuModel, units] of before)
    for (const unit of units.keys()) add(getOrCreate(sums, gpuModel, newCounts), unit, 0);
  for (const { quantities } of aggregates.groups)
    for (const [gpuModel, units] of quantities)
      for (const [unit, sum] of units) add(getOrCreate(sums, gpuModel, newCounts), unit, sum);
  return sums;
}

/**
 * A resource that fired stays until a listing shows it with another known meaning, or one that can be compared does not have it. `limit`: no
 * more are held than the station has, whatever incomplete listings have as firing one after another.
 */
async function firingAfter(
  before: LastKnown,
  { parts }: Snapshot,
  limit: number,
  { spec: { cache }, comparison: { result, nowMs }, beforeMs }: LastKnownOptions,
): Promise<Fired> {
  const firing = new Map<string, Resource>();
  const held: [string, HeldResource][] = [];
  const listed = new Set<string>();
  await forEachPart(parts, (part) => {
    for (const resource of part) {
      const { id, alertState } = resource;
      const hasFired = before.firing.has(id) || before.held.has(id);
      if (hasFired) listed.add(id);
      if (alertState === 'firing') firing.set(id, resource);
      else if (hasFired && alertState === 'unknown') held.push([id, { resource, listedMs: nowMs }]);
    }
  });
  if (result === 'incomparable') {
    for (const [id, resource] of before.firing) if (!listed.has(id)) held.push([id, { resource, listedMs: beforeMs }]);
    for (const [id, known] of before.held) if (!listed.has(id)) held.push([id, known]);
  }
  const fresh = held.filter(([, { listedMs }]) => nowMs - listedMs <= cache.maxStaleMs);
  return { firing, held: new Map(fresh.slice(0, Math.max(0, limit - firing.size))) };
}
