import { hash, hashText, pick, type Random, randomFrom } from './random.ts';
import {
  createResource,
  type Lifetime,
  type Naming,
  recordAt,
  type SimulatedResource,
  type Slot,
  type WireRecord,
} from './resource.ts';
import { type ResourceKind, resourceKinds } from './resource-kinds.ts';

export interface WorldStation {
  readonly name: string;
  /** Average number of resources. */
  readonly size: number;
  /** The category with three times its usual share. */
  readonly emphasis?: 'compute' | 'storage' | 'network';
}

/** A record, and the properties the service filters by without sending them. */
export interface WorldEntry {
  readonly record: WireRecord;
  /** '' for none. */
  readonly product: string;
  readonly alertable: boolean;
}

/** Simulated fleets, a pure function of seed and time. */
export interface World {
  readonly stations: readonly WorldStation[];
  /** Oldest first; by number with sequential names. */
  resources(station: string, atMs: number): readonly WorldEntry[];
}

/** The fleets change only at ticks, so that the pages of one listing agree. */
const TICK_MS = 10_000;

interface WorldOptions {
  readonly seed: number;
  readonly stations: readonly WorldStation[];
  readonly naming?: Naming;
}

export function createWorld({ seed, stations, naming = 'random' }: WorldOptions): World {
  const fleets = new Map(stations.map((station) => [station.name, memoizeLatest(fleet(seed, station, naming))]));
  return {
    stations,
    resources(station, atMs) {
      const resourcesAt = fleets.get(station);
      if (resourcesAt === undefined) throw new Error(`unknown simulated station ${station}`);
      return resourcesAt(Math.floor(atMs / TICK_MS) * TICK_MS);
    },
  };
}

/** All pages of a listing usually fall into one tick. */
function memoizeLatest<T>(compute: (tickMs: number) => T): (tickMs: number) => T {
  let latest: { readonly tickMs: number; readonly value: T } | undefined;
  return (tickMs) => {
    if (latest?.tickMs !== tickMs) latest = { tickMs, value: compute(tickMs) };
    return latest.value;
  };
}

function fleet(seed: number, station: WorldStation, naming: Naming): (atMs: number) => readonly WorldEntry[] {
  const key = hash(seed, hashText(station.name));
  const load = loadCurve(key);
  const kinds = weightedKinds(station);
  const slots = Array.from({ length: Math.round(station.size / MEAN_OCCUPANCY) }, (_, index) =>
    slotOccupant({ station: key, index }, pick(randomFrom(hash(key, index, 1)), kinds), load, naming),
  );
  return (atMs) =>
    slots
      .map((resourceAt) => resourceAt(atMs))
      .filter((resource) => resource !== undefined)
      .sort((one, other) => (naming === 'random' ? one.lifetime.fromMs - other.lifetime.fromMs : 0))
      .map((resource) => ({
        record: recordAt(resource, atMs),
        product: resource.product,
        alertable: resource.alertable,
      }));
}

/** The resource in a slot, memoized for the current cycle. */
function slotOccupant(
  slot: Slot,
  kind: ResourceKind,
  load: (ms: number) => number,
  naming: Naming,
): (atMs: number) => SimulatedResource | undefined {
  let cycle: SlotCycle | undefined;
  let resource: SimulatedResource | undefined;
  return (atMs) => {
    if (cycle === undefined || atMs < cycle.fromMs || atMs >= cycle.untilMs) {
      cycle = cycleAt(slot, kind.lifetimeMs, load, atMs);
      resource = cycle.lifetime && createResource(kind, cycle.lifetime, naming);
    }
    return resource && resource.lifetime.fromMs <= atMs && atMs < resource.lifetime.untilMs ? resource : undefined;
  };
}

/** Each kind repeated by its weight, to pick from. */
function weightedKinds({ emphasis }: WorldStation): readonly ResourceKind[] {
  return resourceKinds.flatMap((kind) => {
    const emphasised = kind.key.startsWith(`resource_type.${emphasis}.`);
    return Array<ResourceKind>(emphasised ? 3 * kind.weight : kind.weight).fill(kind);
  });
}

/** The period in which a slot holds at most one resource. */
interface SlotCycle {
  readonly fromMs: number;
  readonly untilMs: number;
  /** undefined: the slot stays empty. */
  readonly lifetime: Lifetime | undefined;
}

/** Depends on the load at the start of the cycle, so that a lifetime does not depend on when it is computed. */
function cycleAt(
  slot: Slot,
  lifetimeMs: readonly [shortest: number, longest: number],
  load: (ms: number) => number,
  atMs: number,
): SlotCycle {
  const slotKey = hash(slot.station, slot.index);
  const random = randomFrom(slotKey);
  const lengthMs = logUniform(random, lifetimeMs);
  const phaseMs = random() * lengthMs;
  const cycle = Math.floor((atMs + phaseMs) / lengthMs);
  const fromMs = cycle * lengthMs - phaseMs;
  const key = hash(slotKey, cycle);
  const draw = randomFrom(key);
  const isOccupied = draw() < load(fromMs);
  const lifetime = {
    slot,
    cycle,
    key,
    fromMs: Math.ceil(fromMs + LATEST_START * draw() * lengthMs),
    untilMs: fromMs + (1 - EARLIEST_END * draw()) * lengthMs,
  };
  return { fromMs, untilMs: fromMs + lengthMs, lifetime: isOccupied ? lifetime : undefined };
}

const LATEST_START = 0.1;
const EARLIEST_END = 0.1;
const MEAN_LOAD = 0.75;
const DAY = 86_400_000;

/** The share of occupied slots over time, with a daily and a longer period. */
function loadCurve(station: number): (ms: number) => number {
  const random = randomFrom(station);
  const day = random();
  const season = random();
  return (ms) => MEAN_LOAD + 0.07 * wave(ms / DAY + day) + 0.13 * wave(ms / (23 * DAY) + season);
}

/** The average share of occupied slots. */
const MEAN_OCCUPANCY = MEAN_LOAD * (1 - LATEST_START / 2 - EARLIEST_END / 2);

/** With a period of 1. */
function wave(phase: number): number {
  return Math.sin(2 * Math.PI * phase);
}

/** Uniform on a logarithmic scale. */
function logUniform(random: Random, [least, most]: readonly [number, number]): number {
  return least * (most / least) ** random();
}
