import { HOUR_MS } from '../model/clock.ts';
import { isLost } from '../status/thresholds.ts';

/** Many stations that a reload has removed. */
export interface RemovedStations {
  readonly atMs: number;
  /** How many stations were configured before. */
  readonly before: number;
  readonly names: readonly string[];
}

/** As long as a loss of resources is reported. */
const REPORTED_MS = 6 * HOUR_MS;

/** After a reload; undefined: not many are gone, or they are configured again. */
export function removedAfter(
  known: RemovedStations | undefined,
  before: readonly string[],
  next: Pick<ReadonlySet<string>, 'has'>,
  atMs: number,
): RemovedStations | undefined {
  const candidates = [{ atMs, before: before.length, names: before }, ...(known ? [known] : [])];
  return candidates
    .map((removed) => ({ ...removed, names: removed.names.filter((name) => !next.has(name)) }))
    .find((removed) => isLost(removed.before - removed.names.length, removed.before));
}

export function isReported({ atMs }: RemovedStations, nowMs: number): boolean {
  return nowMs - atMs < REPORTED_MS;
}
