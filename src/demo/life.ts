import { hash, type Random, randomFrom } from './random.ts';

/** Where in the fleet of a station there is room for one resource at a time. */
export interface Place {
  readonly station: number;
  readonly slot: number;
}

/** The time that one resource may have at a place. */
export interface Turn {
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
export function turnAt(
  place: Place,
  livesMs: readonly [shortest: number, longest: number],
  load: (ms: number) => number,
  atMs: number,
): Turn {
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
export function loadOf(station: number): (ms: number) => number {
  const random = randomFrom(station);
  const day = random();
  const season = random();
  return (ms) => MEAN_LOAD + 0.07 * wave(ms / DAY + day) + 0.13 * wave(ms / (23 * DAY) + season);
}

/** The share of its places that a fleet fills on average. */
export const meanOccupancy = MEAN_LOAD * (1 - LATEST_START / 2 - EARLIEST_END / 2);

function wave(turns: number): number {
  return Math.sin(2 * Math.PI * turns);
}

/** Short lives are as common as long ones, whatever the scale. */
function logarithmic(random: Random, [least, most]: readonly [number, number]): number {
  return least * (most / least) ** random();
}
