import type { EndedRefresh } from '../../src/status/latest-refreshes.ts';

/** A refresh that succeeded, and found nothing changed. */
export function success(atMs: number, changes: Partial<EndedRefresh> = {}): EndedRefresh {
  return {
    atMs,
    outcome: 'succeeded',
    waitedMs: 0,
    durationMs: 250,
    pages: 3,
    resources: 42,
    firing: 2,
    added: 0,
    removed: 0,
    stateChanges: 0,
    ...changes,
  };
}
