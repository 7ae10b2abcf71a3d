import { type ResourceKind, resourceKinds } from './catalogue.ts';
import { loadOf, meanOccupancy, type Place, type Turn, turnAt } from './life.ts';
import { hash, hashText, pick, randomFrom } from './random.ts';
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
