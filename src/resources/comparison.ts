import type { Snapshot } from './snapshot.ts';

export interface Base {
  readonly rejected: number;
  /** When it was listed, in monotonic milliseconds. */
  readonly listedMs: number;
}

/** What a listing is to those before it. */
export interface Comparison {
  /**
   * `compared`: what it does not list is gone. `started`: the same, but there is nothing to count changes against. `incomparable`: what it
   * does not list may still exist.
   */
  readonly result: 'compared' | 'started' | 'incomparable';
  /** What the next listing is compared with; undefined: nothing. */
  readonly base: Base | undefined;
  readonly nowMs: number;
}

/**
 * A listing can be compared when it adds up and rejects no more records than the base: a record that is rejected for good hides no change.
 * Otherwise what is known stays, until the base was listed more than `maxStaleMs` ago and a listing that adds up takes its place. The
 * further listings say nothing about which resources exist.
 */
export function comparisonOf(
  base: Base | undefined,
  { main, rejected }: Pick<Snapshot, 'main' | 'rejected'>,
  nowMs: number,
  maxStaleMs: number,
): Comparison {
  const next = { rejected, listedMs: nowMs };
  if (base && main.addsUp && rejected <= base.rejected) return { result: 'compared', base: next, nowMs };
  const lasting = base && nowMs - base.listedMs <= maxStaleMs ? base : undefined;
  if (main.addsUp && lasting === undefined) return { result: 'started', base: next, nowMs };
  return { result: 'incomparable', base: lasting, nowMs };
}
