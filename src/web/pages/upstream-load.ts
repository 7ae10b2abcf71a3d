import { CAPACITY_GUIDE, capacityText, isExceeded } from '../../inventory/capacity.ts';
import { NOTABLE_WAIT_MS, type UpstreamStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { facts, type Html, html, timeText } from './html.ts';

/** The upstreams that are overloaded, throttled or hanging; empty when none is. */
export function upstreamSection(upstreams: readonly UpstreamStatus[], nowMs: number): readonly Html[] {
  const entries = upstreams.flatMap((upstream) =>
    loadList(upstream, nowMs).map((list) => [upstream.name, list] as const),
  );
  if (entries.length === 0) return [];
  return [
    html`<section aria-labelledby="upstreams">
<h2 id="upstreams">Upstreams</h2>
${facts('upstream-loads', entries)}
</section>`,
  ];
}

/** What limits the refreshes of an upstream, as a list; empty when its limits are not reached. */
export function loadList({ load, capacity }: UpstreamStatus, nowMs: number): readonly Html[] {
  const {
    requestsPerSecond,
    holdMs,
    recentRequests,
    recentThrottled,
    waitingRefreshes,
    oldestWaitingMs,
    hangingStations,
  } = load;
  const digits = requestsPerSecond < 10 ? 1 : 0;
  const rate = Number.isFinite(requestsPerSecond)
    ? `now ${requestsPerSecond.toFixed(digits)} requests/s`
    : 'now without a rate limit';
  const notes: Html[] = [];
  if (recentThrottled > 0) {
    notes.push(
      html`throttled (429): ${numberText(recentThrottled)} of ${countText(recentRequests, 'request')} in 5 min, ${rate}`,
    );
  }
  if (holdMs > 0) {
    const until = timeText(nowMs + holdMs, 'seconds');
    notes.push(html`service requested a pause until ${until} UTC (Retry-After)`);
  }
  if (waitingRefreshes > 0 && oldestWaitingMs >= NOTABLE_WAIT_MS) {
    notes.push(
      html`${countText(waitingRefreshes, 'refresh', 'refreshes')} waiting for capacity, the first for ${durationText(oldestWaitingMs)}`,
    );
  }
  if (hangingStations > 0) {
    notes.push(
      html`${countText(hangingStations, 'station')} ${hangingStations === 1 ? 'hangs' : 'hang'} (one probing request at a time)`,
    );
  }
  if (capacity && isExceeded(capacity)) {
    notes.push(html`${capacityText(capacity)} <a href="${CAPACITY_GUIDE}" rel="noreferrer">What to do</a>`);
  }
  return notes.length === 0 ? [] : [html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`];
}
