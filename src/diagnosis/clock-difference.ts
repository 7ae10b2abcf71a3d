import { NOTABLE_CLOCK_DIFFERENCE_MS } from '../upstream/http/authenticator.ts';
import type { ReplyInfo } from '../upstream/http/observer.ts';

/** The `Date` header has a resolution of one second. */
const DATE_RESOLUTION_MS = 1000;

/**
 * How far the local clock is ahead of the service's (negative: behind), taken from the reply with the shortest round trip.
 * The service writes `Date` at an unknown moment of the round trip, so a difference within it counts as 0.
 */
export function clockDifferenceMs(
  replies: readonly Pick<ReplyInfo, 'sentMs' | 'receivedMs' | 'dateMs'>[],
): number | undefined {
  let best: { readonly minMs: number; readonly maxMs: number } | undefined;
  for (const { sentMs, receivedMs, dateMs } of replies) {
    if (dateMs === undefined) continue;
    const bounds = { minMs: sentMs - dateMs - DATE_RESOLUTION_MS, maxMs: receivedMs - dateMs };
    if (best === undefined || bounds.maxMs - bounds.minMs < best.maxMs - best.minMs) best = bounds;
  }
  if (best === undefined) return undefined;
  return best.minMs <= 0 && best.maxMs >= 0 ? 0 : (best.minMs + best.maxMs) / 2;
}

/** Whether the service may reject signatures because of it. */
export function isNotableClockDifference(differenceMs: number): boolean {
  return Math.abs(differenceMs) > NOTABLE_CLOCK_DIFFERENCE_MS;
}

export function clockDifferenceText(differenceMs: number): string {
  return `${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs > 0 ? 'ahead of' : 'behind'}`;
}
