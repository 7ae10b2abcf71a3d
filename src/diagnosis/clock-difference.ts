import type { ReplyInfo } from '../upstream/observer.ts';

const DATE_RESOLUTION_MS = 1000;

/**
 * How far our clock is ahead of the service's, as the quickest reply tells it; negative: behind, 0: no difference to be seen.
 * A reply is written at some time between question and answer and dated by the second, so a difference within these bounds is none.
 */
export function clockDifferenceMs(answers: readonly Pick<ReplyInfo, 'sentMs' | 'receivedMs' | 'dateMs'>[]): number | undefined {
  let best: { readonly leastMs: number; readonly mostMs: number } | undefined;
  for (const { sentMs, receivedMs, dateMs } of answers) {
    if (dateMs === undefined) continue;
    const bounds = { leastMs: sentMs - dateMs - DATE_RESOLUTION_MS, mostMs: receivedMs - dateMs };
    if (best === undefined || bounds.mostMs - bounds.leastMs < best.mostMs - best.leastMs) best = bounds;
  }
  if (best === undefined) return undefined;
  return best.leastMs <= 0 && best.mostMs >= 0 ? 0 : (best.leastMs + best.mostMs) / 2;
}

export function clockWords(aheadMs: number): string {
  return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}
