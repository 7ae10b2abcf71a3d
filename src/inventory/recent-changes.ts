import { firstMsOf, type HistoryEntry } from './history.ts';

/** How many resources of a station were added and removed in a time. */
export interface RecentChanges {
  readonly added: number;
  readonly removed: number;
  /** When the first of them was found; undefined: there are none. */
  readonly sinceMs: number | undefined;
  /** Since when changes have been known; undefined: there is no complete listing yet, or the latest one is incomplete. */
  readonly knownSinceMs: number | undefined;
  /** undefined: not many are gone. */
  readonly loss: Loss | undefined;
}

/** Many resources of a station are gone. */
export interface Loss {
  readonly lost: number;
  /** How many there were before. */
  readonly before: number;
  readonly sinceMs: number;
}

/** The default thresholds of the alert TelemetryStationResourcesLost, which also compares with the maximum of the last hour. */
const LARGE_LOSS_SHARE = 0.2;
const SMALL_LOSS = 2;

/**
 * `entries`: refreshes, the oldest first. Only complete listings since `comparedSinceMs` (see `History`) count: what an incomplete one lacks
 * may still exist.
 */
export function recentChanges(entries: readonly HistoryEntry[], comparedSinceMs: number | undefined): RecentChanges {
  const fromMs = comparedSinceMs ?? Number.POSITIVE_INFINITY;
  const compared = entries.filter((entry) => isCompared(entry) && firstMsOf(entry) >= fromMs);
  const sum = (key: 'added' | 'removed') => compared.reduce((total, entry) => total + (entry[key] ?? 0), 0);
  const first = compared.find(({ added = 0, removed = 0 }) => added + removed > 0);
  const latest = entries.findLast(({ outcome }) => outcome === 'succeeded' || outcome === 'incomplete');
  return {
    added: sum('added'),
    removed: sum('removed'),
    sinceMs: first && firstMsOf(first),
    knownSinceMs: latest?.outcome === 'incomplete' ? undefined : comparedSinceMs,
    loss: largeLoss(compared),
  };
}

/** Several refreshes of one entry count with their sums, also if one of them failed. */
function isCompared({ outcome, removed, refreshes }: HistoryEntry): boolean {
  return removed !== undefined && (outcome === 'succeeded' || refreshes > 1);
}

/** Against the largest number of resources, and since it became smaller. */
function largeLoss(compared: readonly HistoryEntry[]): Loss | undefined {
  const latest = compared.at(-1);
  if (latest?.resources === undefined || latest.outcome !== 'succeeded') return undefined;
  const { resources: now } = latest;
  let resources = now;
  let before = now;
  let sinceMs = 0;
  for (const entry of compared.toReversed()) {
    const { added = 0, removed = 0 } = entry;
    resources += removed - added;
    if (resources <= before) continue;
    before = resources;
    sinceMs = firstMsOf(entry);
  }
  const lost = before - now;
  return lost > LARGE_LOSS_SHARE * before + SMALL_LOSS ? { lost, before, sinceMs } : undefined;
}
