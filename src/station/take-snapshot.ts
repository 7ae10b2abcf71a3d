import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from './clock.ts';
import { ListingFailure } from './failure.ts';
import type { Snapshot, Surveyor } from './snapshot.ts';
import type { StationSpec } from './spec.ts';

/** One survey within the time that the station has for it; rejects with the signal's reason when that aborts first. */
export async function takeSnapshot(
  surveyor: Surveyor,
  { name, refreshTimeoutMs }: Pick<StationSpec, 'name' | 'refreshTimeoutMs'>,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<Snapshot> {
  const controller = new AbortController();
  // Every request under way listens to it: many, but never forgotten.
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  const giveUp = () => controller.abort(new ListingFailure('timeout', `the refresh did not end within ${refreshTimeoutMs / 1000} s`));
  const timer = setTimeout(giveUp, refreshTimeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await surveyor.survey({ signal: controller.signal, deadlineMs: clock.wallMs() + refreshTimeoutMs, station: name });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // One listing has failed: the others under way have nothing left to serve.
    controller.abort();
  }
}
