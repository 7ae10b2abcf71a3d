import { HOUR_MS } from '../model/clock.ts';
import type { Loss } from './loss.ts';
import { type StationStatus, stateOf } from './station-status.ts';

/** How many resources of a station were added and removed in the last hour. */
export interface RecentChanges {
  readonly added: number;
  readonly removed: number;
  /** When the first of them was found; undefined: there are none. */
  readonly sinceMs: number | undefined;
  /** Since when all changes up to now have been known; undefined: the present ones are not. */
  readonly knownSinceMs: number | undefined;
  /** undefined: not many are gone. */
  readonly loss: Loss | undefined;
}

/** Only listings that were compared count: what another one lacks may still exist. */
export function recentChanges(station: StationStatus, nowMs: number): RecentChanges {
  const { comparedSinceMs, snapshot } = station;
  const changes = station.numberChanges.filter(({ atMs }) => atMs >= nowMs - HOUR_MS);
  const sum = (key: 'added' | 'removed') => changes.reduce((total, change) => total + change[key], 0);
  const sinceMs = changes[0]?.atMs;
  const isKnown = stateOf(station) === 'up' && snapshot?.isHeld === false && comparedSinceMs !== undefined;
  return {
    added: sum('added'),
    removed: sum('removed'),
    sinceMs,
    // The changes before a reload are among them.
    knownSinceMs: isKnown ? Math.min(comparedSinceMs, sinceMs ?? comparedSinceMs) : undefined,
    loss: station.lossAt(nowMs),
  };
}
