import type { HistoryEntry } from '../inventory/history.ts';
import type { Aggregates } from '../metrics/aggregates.ts';
import type { EncodedSnapshot } from '../metrics/station-encoder.ts';
import type { ListingFailure } from '../model/failure.ts';
import type { EndedAttempt, StationView } from '../refresh/station-cache.ts';
import type { Generation } from './generation.ts';

/** A refresh as the history of its station keeps it. */
export function refreshEntry(
  { health, served }: StationView<EncodedSnapshot>,
  { waitedMs, changes }: EndedAttempt,
): HistoryEntry {
  const { lastAttemptMs = 0, durationMs = 0, failure } = health;
  const common = { atMs: lastAttemptMs, durationMs, waitedMs, refreshes: 1 };
  if (failure) return { ...common, failed: 1, outcome: 'failed', failure };
  const snapshot = served?.publication.snapshot;
  const counts = served &&
    snapshot && { pages: snapshot.pages, resources: snapshot.size, firing: firingCount(served.encoded.aggregates) };
  return { ...common, failed: 0, outcome: snapshot?.complete ? 'succeeded' : 'incomplete', ...counts, ...changes };
}

export function postponedEntry({ reason, message }: ListingFailure, atMs: number): HistoryEntry {
  return { atMs, waitedMs: 0, refreshes: 1, failed: 0, outcome: 'postponed', failure: { reason, message } };
}

/** Refreshes a station on request: see `Fleet.refreshNow`. Resolves with the outcome, undefined if the station was closed meanwhile. */
export function refreshStation(
  { fleet, histories }: Pick<Generation, 'fleet' | 'histories'>,
  name: string,
): Promise<HistoryEntry | undefined> | number | undefined {
  const history = histories.get(name);
  const refreshes = history?.refreshes;
  const refresh = fleet.refreshNow(name);
  return typeof refresh === 'object'
    ? refresh.then(() => (history?.refreshes === refreshes ? undefined : history?.latest()))
    : refresh;
}

/** Counted as the dashboards and alerts do, by the published state. */
function firingCount({ groups }: Aggregates): number {
  let firing = 0;
  for (const { states } of groups) for (const [state, count] of states) if (/firing/i.test(state)) firing += count;
  return firing;
}
