import { type ResourceKind, resourceKinds } from './catalogue.ts';
import { hash, hashText, pick, type Random, randomFrom } from './random.ts';
import { type Birth, birth, recordAt, type WireResource } from './resource.ts';

export interface WorldStation {
  readonly name: string;
  /** How many resources it has on average. */
  readonly size: number;
  /** The category that is three times as common here as elsewhere. */
  readonly emphasis?: 'compute' | 'storage' | 'network';
}

/** A resource with what the service knows of it and does not send. */
export interface WorldEntry {
  readonly record: WireResource;
  /** '' for none. */
  readonly product: string;
  readonly alertable: boolean;
}

/** Fleets that depend on seed and time alone: the same question always has the same answer. */
export interface World {
  readonly stations: readonly WorldStation[];
  /** In the order of creation, so that what is new comes last. */
  resources(station: string, atMs: number): readonly WorldEntry[];
}

/** The world stands still between ticks. */
const TICK_MS = 10_000;

export function createWorld({ seed, stations }: { seed: number; stations: readonly WorldStation[] }): World {
  const fleets = new Map(stations.map((station) => [station.name, keepLatest(fleet(seed, station))]));
  return {
    stations,
    resources(station, atMs) {
      const resourcesAt = fleets.get(station);
      if (resourcesAt === undefined) throw new Error(`the world has no station ${station}`);
      return resourcesAt(Math.floor(atMs / TICK_MS) * TICK_MS);
    },
  };
}

/** A listing asks for the same tick page by page. */
function keepLatest<T>(compute: (tickMs: number) => T): (tickMs: number) => T {
  let latest: { readonly tickMs: number; readonly value: T } | undefined;
  return (tickMs) => {
    if (latest?.tickMs !== tickMs) latest = { tickMs, value: compute(tickMs) };
    return latest.value;
  };
}

function fleet(seed: number, station: WorldStation): (atMs: number) => readonly WorldEntry[] {
  const key = hash(seed, hashText(station.name));
  const load = loadOf(key);
  const kinds = mix(station);
  const births = Array.from({ length: Math.round(station.size / meanOccupancy) }, (_, slot) =>
    birthsAt({ station: key, slot }, pick(randomFrom(hash(key, slot, 1)), kinds), load),
  );
  return (atMs) =>
    births
      .map((birthAt) => birthAt(atMs))
      .filter((born) => born !== undefined)
      .sort((one, other) => one.life.fromMs - other.life.fromMs)
      .map((born) => ({ record: recordAt(born, atMs), product: born.product, alertable: born.alertable }));
}

/** Who lives at the place; what was found is kept while the turn lasts. */
function birthsAt(place: Place, kind: ResourceKind, load: (ms: number) => number): (atMs: number) => Birth | undefined {
  let turn: Turn | undefined;
  let born: Birth | undefined;
  return (atMs) => {
    if (turn === undefined || atMs < turn.fromMs || atMs >= turn.untilMs) {
      turn = turnAt(place, kind.livesMs, load, atMs);
      born = turn.life && birth(kind, turn.life);
    }
    return born && born.life.fromMs <= atMs && atMs < born.life.untilMs ? born : undefined;
  };
}

/** Each kind as often as its weight at the station says. */
function mix({ emphasis }: WorldStation): readonly ResourceKind[] {
  return resourceKinds.flatMap((kind) => {
    const emphasised = kind.key.startsWith(`resource_type.${emphasis}.`);
    return Array<ResourceKind>(emphasised ? 3 * kind.weight : kind.weight).fill(kind);
  });
}

/** Where in the fleet of a station there is room for one resource at a time. */
interface Place {
  readonly station: number;
  readonly slot: number;
}

/** The time that one resource may have at a place. */
interface Turn {
  readonly fromMs: number;
  readonly untilMs: number;
  /** undefined: the place stays empty. */
  readonly life: Life | undefined;
}

/** One resource's time in the world. */
export interface Life {
  readonly place: Place;
  /** How many turns the place had before. */
  readonly generation: number;
  /** Where the resource's attributes come from; two resources may share it, so ids are not made of it. */
  readonly key: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Whose turn it is: decided by the load at the turn's start, so that a life never depends on when the world is looked at. */
function turnAt(place: Place, livesMs: readonly [shortest: number, longest: number], load: (ms: number) => number, atMs: number): Turn {
  const placeKey = hash(place.station, place.slot);
  const random = randomFrom(placeKey);
  const lengthMs = logarithmic(random, livesMs);
  const phaseMs = random() * lengthMs;
  const generation = Math.floor((atMs + phaseMs) / lengthMs);
  const fromMs = generation * lengthMs - phaseMs;
  const key = hash(placeKey, generation);
  const chance = randomFrom(key);
  const taken = chance() < load(fromMs);
  const life = {
    place,
    generation,
    key,
    fromMs: Math.ceil(fromMs + LATEST_START * chance() * lengthMs),
    untilMs: fromMs + (1 - EARLIEST_END * chance()) * lengthMs,
  };
  return { fromMs, untilMs: fromMs + lengthMs, life: taken ? life : undefined };
}

const LATEST_START = 0.1;
const EARLIEST_END = 0.1;
const MEAN_LOAD = 0.75;
const DAY = 86_400_000;

/** How full the fleet is at a time: it breathes with the day and drifts over weeks. */
function loadOf(station: number): (ms: number) => number {
  const random = randomFrom(station);
  const day = random();
  const season = random();
  return (ms) => MEAN_LOAD + 0.07 * wave(ms / DAY + day) + 0.13 * wave(ms / (23 * DAY) + season);
}

/** The share of its places that a fleet fills on average. */
const meanOccupancy = MEAN_LOAD * (1 - LATEST_START / 2 - EARLIEST_END / 2);

function wave(tasks: number): number {
  return Math.sin(2 * Math.PI * tasks);
}

/** Short lives are as common as long ones, whatever the scale. */
function logarithmic(random: Random, [least, most]: readonly [number, number]): number {
  return least * (most / least) ** random();
}
