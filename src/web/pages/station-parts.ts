import { CAPACITY_GUIDE, type Capacity, capacityText, isExceeded } from '../../inventory/capacity.ts';
import type { Link } from '../../inventory/links.ts';
import type { RecentChanges } from '../../inventory/recent-changes.ts';
import {
  type CountedCoverage,
  coverageShare,
  dataProblems,
  isCritical,
  isOnlyRejecting,
  NOTABLE_WAIT_MS,
  noDataReason,
  noShareReason,
  STATION_STATES,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import {
  type UnknownState,
  unknownStatesAdvice,
  unknownStatesCount,
  unknownStatesText,
} from '../../inventory/unknown-states.ts';
import { countText, durationText, numberText, shareText } from '../../inventory/words.ts';
import { type FailureSummary, failureAdvice, type Silence } from '../../model/failure.ts';
import { INCOMPLETE_ADVICE } from '../../model/listing.ts';
import { changesPath, stationPath } from '../routes.ts';
import { statusText } from './error-page.ts';
import { breakable, type Html, html, momentText, sinceText, timeText, unknown } from './html.ts';

/** Shown for values of a station without data. */
const NO_DATA_CELL = unknown('no data');

/** The state of a station in words and in the colour of its urgency: that of success only while its data lacks nothing and means something. */
export function stateBadge(station: StationStatus, nowMs: number): Html {
  const state = stateOf(station);
  return html`<span class="state ${state} ${toneOf(station, nowMs)}">${STATION_STATES[state]}</span>`;
}

function toneOf(station: StationStatus, nowMs: number): 'good' | 'warning' | 'bad' | 'unclear' {
  const state = stateOf(station);
  if (state === 'not-tried') return 'unclear';
  if (state !== 'up') return isCritical(station, nowMs) ? 'bad' : 'warning';
  if (completeness(station) !== '') return 'warning';
  return station.snapshot?.unknown ? 'unclear' : 'good';
}

/** What is wrong with a station, in a few words: `401 Unauthorized, 3 rejected`; '' if nothing is. */
export function stateNote(station: StationStatus): string {
  const { failure, snapshot } = station;
  const notes = [
    failure && shortReason(failure),
    stateOf(station) === 'no-data' ? noDataReason(station) : '',
    completeness(station),
    snapshot?.unknown ? `${numberText(snapshot.unknown)} in an unknown state` : '',
  ];
  return notes.filter(Boolean).join(', ');
}

/** A few words for a failure: the status if the service returned one. */
export function shortReason(failure: FailureSummary): string {
  const { reason, status } = failure;
  if (reason !== 'status' || status === undefined) return failureAdvice(failure).short;
  return statusText(status);
}

/** Why the listing is not verified complete, in a word: `incomplete`, `3 rejected`; '' if it is. */
export function completeness({ snapshot }: StationStatus): string {
  if (snapshot === undefined || snapshot.complete) return '';
  return isOnlyRejecting(snapshot) ? `${numberText(snapshot.rejected)} rejected` : 'incomplete';
}

/** The name of a station with a link. */
export function stationLink(name: string, root = './'): Html {
  return html`<a href="${root}${stationPath(name)}">${breakable(name)}</a>`;
}

/** The way to a page from the stations; `station`: that the page is below. */
export function trail(root: string, here: string, station?: string): Html {
  const above = station === undefined ? [] : html`${stationLink(station, root)} / `;
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${root}">Stations</a> / ${above}${here}</nav>`;
}

/** Reason, meaning and advice for the failure of the latest refresh, and what the data lacks; empty when all is well. */
export function stationNotes(station: StationStatus, nowMs: number): Html {
  const { failure, lastSuccessMs } = station;
  const problems = dataProblems(station).map((problem) => html`<li>${problem}</li>\n`);
  const { incompleteSinceMs } = station;
  const since = incompleteSinceMs === undefined ? [] : html` ${sinceText(incompleteSinceMs, nowMs, 'with length')}`;
  const warning = html`<div class="failure-note warning" id="data-problems"><p>The data may be missing resources${since}</p>
<ul>${problems}</ul>
${adviceText(incompleteAdvice(station))}</div>\n`;
  const note = problems.length === 0 ? html`` : warning;
  if (failure === undefined) return note;
  const { meaning, advice } = failureAdvice(failure, silenceOf(station));
  return html`<div class="failure-note ${isCritical(station, nowMs) ? 'bad' : 'warning'}">
<p>${meaning} ${failingText(station, nowMs)}${successText(lastSuccessMs, nowMs)}</p>
${adviceText(advice)}
<p class="said"><code>${failure.reason}</code>: ${failure.message}</p>
</div>${note}`;
}

/** Who has not replied, as far as is known; undefined: the service replied to the station before. */
export function silenceOf({ isHanging, lastSuccessMs, othersAnswered }: StationStatus): Silence | undefined {
  if (!isHanging && lastSuccessMs !== undefined) return undefined;
  return othersAnswered > 0 ? 'station' : 'service';
}

/** Says since when refreshes fail. */
function failingText(station: StationStatus, nowMs: number): Html {
  const sinceMs = failingSinceMs(station);
  return sinceMs === undefined ? html`` : html`Failing ${sinceText(sinceMs, nowMs, 'with length')}. `;
}

/** The end of the first refresh that failed; undefined: the latest one succeeded. */
export function failingSinceMs({ failure, outages, lastAttemptMs }: StationStatus): number | undefined {
  const latest = outages.at(-1);
  if (failure === undefined) return undefined;
  return latest && latest.toMs === undefined ? latest.fromMs : lastAttemptMs;
}

/** What to do: the first sentence is the strongest line of its problem. `see`: where to see more. */
export function adviceText(advice: string, see?: Html): Html {
  const [first = '', ...rest] = advice.split(/(?<=[.?!]) (?=[A-Z])/);
  const further: Html[] = [];
  if (rest.length > 0) further.push(html` ${rest.join(' ')}`);
  if (see) further.push(html` ${see}.`);
  return html`<p class="advice">What to do: <strong>${first}</strong>${further}</p>`;
}

/** What to do about a listing that is not verified complete, for each of its reasons. */
export function incompleteAdvice({ snapshot }: StationStatus): string {
  const reasons = snapshot?.incompleteReasons.map(({ reason }) => INCOMPLETE_ADVICE[reason]) ?? [];
  return [...new Set(reasons)].join(' ');
}

function successText(lastSuccessMs: number | undefined, nowMs: number): Html {
  if (lastSuccessMs === undefined) return html`No refresh has succeeded yet.`;
  return html`Last success: ${momentText(lastSuccessMs, nowMs)}.`;
}

/** The share of resources with alert rules, and how many are not counted because too little is known of them. `href`: of those without rules. */
export function coverageText(coverage: CountedCoverage | undefined, href?: string): Html {
  if (coverage === undefined) return NO_DATA_CELL;
  if (coverageShare(coverage) === undefined) return unknown(noShareReason(coverage));
  const { withRules, withoutRules, unknownCoverage } = coverage;
  const share = shareText(withRules, withRules + withoutRules);
  const title = `${countText(withoutRules, 'resource')} without alert rules`;
  const link =
    href === undefined || withoutRules === 0 ? html`${share}` : html`<a href="${href}" title="${title}">${share}</a>`;
  if (unknownCoverage === 0) return link;
  return html`${link} <span class="sub no">${numberText(unknownCoverage)} unknown</span>`;
}

/** The end of the last refresh that succeeded, also when its data has expired. */
export function lastSuccess(
  { lastSuccessMs }: StationStatus,
  nowMs: number,
  precision: 'exact' | 'rough' = 'exact',
): Html {
  return lastSuccessMs === undefined ? unknown('none yet') : momentText(lastSuccessMs, nowMs, precision);
}

/** A number of resources with a link to them. */
export function linkedCount(count: number | undefined, href: string | undefined): Html {
  if (count === undefined) return NO_DATA_CELL;
  return href === undefined || count === 0
    ? html`${numberText(count)}`
    : html`<a href="${href}">${numberText(count)}</a>`;
}

/** `−220 +12 since 13:18 UTC`, each number with a link to the changes; undefined without any. */
export function changesSince(
  station: string,
  { added, removed, sinceMs, loss }: RecentChanges,
  nowMs: number,
  root: string,
): Html | undefined {
  if (sinceMs === undefined) return undefined;
  const since = new Date(sinceMs).toISOString();
  const link = (change: 'added' | 'removed', words: string) =>
    html`<a href="${root}${changesPath(station, { change, since })}">${words}</a>`;
  const lost =
    removed === 0
      ? []
      : html`<span${loss ? html` class="no"` : []}>${link('removed', `−${numberText(removed)}`)}</span> `;
  const gained = added === 0 ? [] : html`${link('added', `+${numberText(added)}`)} `;
  return html`${lost}${gained}${sinceText(sinceMs, nowMs)}`;
}

/** Which states have no known meaning, and what to do about it; empty without any. */
export function unknownStatesNote(states: readonly UnknownState[], sinceMs?: number, nowMs = 0): Html {
  if (states.length === 0) return html``;
  const since = sinceMs === undefined ? [] : html` ${sinceText(sinceMs, nowMs, 'with length')}`;
  return html`<div class="failure-note unclear" id="unknown-states"><p>${unknownStatesCount(states)}${since}: ${unknownStatesText(states)}. They count neither as firing nor as inactive.</p>
${adviceText(unknownStatesAdvice(states))}</div>`;
}

/** Links to other tools, as configured. Their servers do not learn the address of the page. */
export function linkList(links: readonly Link[]): Html | readonly Html[] {
  if (links.length === 0) return [];
  const items = links.map(({ name, url }) => html`<li><a href="${url}" rel="noreferrer">${name}</a></li>\n`);
  return html`<nav class="links" aria-label="Links to other tools">
<ul>
${items}</ul>
</nav>
`;
}

/** What limits the refreshes of an upstream. */
interface LoadNote {
  readonly kind: 'throttled' | 'held' | 'waiting' | 'hanging' | 'exceeded';
  /** The words after the name of the upstream. */
  readonly brief: string;
  readonly text: Html;
  /** undefined: unknown. */
  readonly sinceMs?: number | undefined;
}

/** Empty when its limits are not reached. A limit above what is needed makes no data older. */
export function loadNotes({ load, capacity }: UpstreamStatus, nowMs: number): readonly LoadNote[] {
  const { holdMs, recentThrottled, waitingRefreshes, oldestWaitingMs, hangingStations } = load;
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
      text: html`service requested a pause until ${timeText(nowMs + holdMs, 'seconds')} UTC (Retry-After)`,
    },
    {
      kind: 'waiting',
      isShown: waitingRefreshes > 0 && oldestWaitingMs >= NOTABLE_WAIT_MS,
      brief: 'overloaded',
      text: html`${countText(waitingRefreshes, 'refresh', 'refreshes')} waiting for capacity, the first for ${durationText(oldestWaitingMs)}`,
      sinceMs: nowMs - oldestWaitingMs,
    },
    {
      kind: 'hanging',
      isShown: hangingStations > 0,
      brief: 'hanging',
      text: html`${countText(hangingStations, 'station')} ${hangingStations === 1 ? 'hangs' : 'hang'} (one probing request at a time)`,
    },
    {
      kind: 'exceeded',
      isShown: isShort && !isThrottled,
      brief: 'overloaded',
      text: html`${capacity === undefined ? '' : capacityText(capacity)} (<a href="${CAPACITY_GUIDE}" rel="noreferrer">what to do</a>)`,
    },
  ];
  return notes.filter(({ isShown }) => isShown);
}

/** `the service accepts 0.1 requests/s, 7.5 are needed: data gets up to 12 min old (12 of 300 requests throttled in 5 min)`. */
function throttledText({ recentThrottled, recentRequests }: UpstreamStatus['load'], capacity?: Capacity): Html {
  const share = `${numberText(recentThrottled)} of ${countText(recentRequests, 'request')} throttled in 5 min`;
  return capacity === undefined ? html`${share}` : html`${capacityText(capacity, 'service')} (${share})`;
}

/** As a list; undefined when the limits of the upstream are not reached. */
export function loadList(upstream: UpstreamStatus, nowMs: number): Html | undefined {
  const notes = loadNotes(upstream, nowMs);
  return notes.length === 0 ? undefined : html`<ul>${notes.map(({ text }) => html`<li>${text}</li>`)}</ul>`;
}
