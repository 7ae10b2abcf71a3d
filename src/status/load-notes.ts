import { countText, durationText, numberText } from '../text/words.ts';
import { type Capacity, capacityText, isExceeded } from './capacity.ts';
import { NOTABLE_WAIT_MS, type UpstreamStatus } from './station-status.ts';

/** What limits the refreshes of an upstream. */
interface LoadNote {
  readonly kind: 'throttled' | 'held' | 'waiting' | 'exceeded';
  /** The words after the name of the upstream. */
  readonly brief: string;
  readonly text: string;
  /** undefined: unknown. */
  readonly sinceMs?: number | undefined;
}

/** Empty when its limits are not reached. A limit above what is needed makes no data older. */
export function loadNotes({ load, capacity }: UpstreamStatus, nowMs: number): readonly LoadNote[] {
  const { holdMs, recentThrottled, waitingRefreshes, oldestWaitingMs } = load;
  const isShort = capacity !== undefined && isExceeded(capacity);
  const isThrottled = recentThrottled > 0;
  const notes: readonly (LoadNote & { readonly isShown: boolean })[] = [
    {
      kind: 'throttled',
      isShown: isThrottled && (capacity === undefined || isShort),
      brief: 'throttled',
      text: throttledText(load, capacity),
      sinceMs: load.throttledForMs === undefined ? undefined : nowMs - load.throttledForMs,
    },
    {
      kind: 'held',
      isShown: holdMs > 0,
      brief: 'paused by the service',
      text: `service requested a pause until ${new Date(nowMs + holdMs).toISOString().slice(11, 19)} UTC (Retry-After)`,
    },
    {
      kind: 'waiting',
      isShown: waitingRefreshes > 0 && oldestWaitingMs >= NOTABLE_WAIT_MS,
      brief: 'overloaded',
      text: `${countText(waitingRefreshes, 'refresh', 'refreshes')} waiting for capacity, the first for ${durationText(oldestWaitingMs)}`,
      sinceMs: nowMs - oldestWaitingMs,
    },
    {
      kind: 'exceeded',
      isShown: isShort && !isThrottled,
      brief: 'overloaded',
      text: capacity === undefined ? '' : capacityText(capacity),
    },
  ];
  return notes.filter(({ isShown }) => isShown);
}

/** `the service accepts 0.1 requests/s, 7.5 are needed: data gets up to 12 min old (12 of 300 requests throttled in 5 min)`. */
function throttledText({ recentThrottled, recentRequests }: UpstreamStatus['load'], capacity?: Capacity): string {
  const share = `${numberText(recentThrottled)} of ${countText(recentRequests, 'request')} throttled in 5 min`;
  return capacity === undefined ? share : `${capacityText(capacity, 'service')} (${share})`;
}
