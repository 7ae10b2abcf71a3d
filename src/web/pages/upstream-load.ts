import { CAPACITY_GUIDE, capacityText, isExceeded } from '../../inventory/capacity.ts';
import { NOTABLE_WAIT_MS, type UpstreamStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { facts, Html, html, timeText } from './html.ts';

/** The upstreams that are overloaded, throttled or hanging; empty when none is. */
export function upstreamSection(upstreams: readonly UpstreamStatus[], nowMs: number): Html {
  const entries = upstreams.map((upstream) => [upstream.name, loadList(upstream, nowMs)] as const);
  if (entries.every(([, list]) => list === undefined)) return html``;
  return html`<section aria-labelledby="upstreams">
<h2 id="upstreams">Upstreams</h2>
${facts('upstream-loads', entries)}
</section>`;
}

/** What limits the refreshes of an upstream, as a list; undefined when its limits are not reached. */
export function loadList({ load, capacity }: UpstreamStatus, nowMs: number): Html | undefined {
  const { requestsPerSecond, holdMs, recentThrottled, waitingRefreshes, oldestWaitingMs, hangingStations } = load;
  const rate = Number.isFinite(requestsPerSecond)
    ? `now ${requestsPerSecond.toFixed(requestsPerSecond < 10 ? 1 : 0)} requests/s`
    : 'now without a rate limit';
  const notes = [
    recentThrottled > 0 &&
      html`throttled (429): ${numberText(recentThrottled)} of ${countText(load.recentRequests, 'request')} in 5 min, ${rate}`,
    holdMs > 0 && html`service requested a pause until ${timeText(nowMs + holdMs, 'seconds')} UTC (Retry-After)`,
    waitingRefreshes > 0 &&
      oldestWaitingMs >= NOTABLE_WAIT_MS &&
      html`${countText(waitingRefreshes, 'refresh', 'refreshes')} waiting for capacity, the first for ${durationText(oldestWaitingMs)}`,
    hangingStations > 0 &&
      html`${countText(hangingStations, 'station')} ${hangingStations === 1 ? 'hangs' : 'hang'} (one probing request at a time)`,
    capacity &&
      isExceeded(capacity) &&
      html`${capacityText(capacity)} <a href="${CAPACITY_GUIDE}" rel="noreferrer">What to do</a>`,
  ].filter((note) => note instanceof Html);
  return notes.length === 0 ? undefined : html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
}
