import { FAILURE_ADVICE } from '../model/failure.ts';
import { durationText, type Html, html, momentText, shareText, unknown } from '../web/pages/html.ts';
import type { StationStatus } from '../web/port.ts';
import { stationPath } from '../web/routes.ts';

/** Labels of the station states, by the key used in style sheet and script. */
export const STATION_STATES = { failing: 'failing', 'no-data': 'no data', 'not-tried': 'not tried', up: 'up' } as const;

type StationState = keyof typeof STATION_STATES;

/** A station without data is never up, even if its latest refresh succeeded. */
export function stateOf({ up, snapshot }: Pick<StationStatus, 'up' | 'snapshot'>): StationState {
  if (up === undefined) return 'not-tried';
  if (!up) return 'failing';
  return snapshot === undefined ? 'no-data' : 'up';
}

type RefreshStatus = Pick<StationStatus, 'isRefreshing' | 'waitingMs' | 'refresh' | 'dueInMs'>;

export function stateBadge(station: Pick<StationStatus, 'up' | 'snapshot'> & RefreshStatus): Html {
  const state = stateOf(station);
  const badge = html`<span class="state ${state}">${STATION_STATES[state]}</span>`;
  return state === 'no-data'
    ? html`${badge}<span class="hidden-text">:</span> <span class="sub">${noDataReason(station)}</span>`
    : badge;
}

/** Why the last successful snapshot was not replaced in time. A scrape refreshes a due station, so there was none since then. */
export function noDataReason(status: RefreshStatus): string {
  const { isRefreshing, refresh, dueInMs } = status;
  if (isRefreshing) return nextRefreshText(status);
  const overdue = durationText(Math.max(-dueInMs, 0));
  return refresh === 'scrape' ? `not scraped for ${overdue}` : `refresh overdue by ${overdue}`;
}

/** The name of a station with a link from a page at the root; without one if the name cannot be part of a path. */
export function stationLink(name: string): Html {
  const path = stationPath(name);
  return path === undefined ? html`${name}` : html`<a href="./${path}">${name}</a>`;
}

/** A shorter wait is usual: all stations of an upstream may be due at once. */
export const NOTABLE_WAIT_MS = 1000;

/** Reason, meaning and advice for the failure of the latest refresh; empty when it succeeded. */
export function failureNote(
  { failure, lastSuccessMs }: Pick<StationStatus, 'failure' | 'lastSuccessMs'>,
  nowMs: number,
): readonly Html[] {
  if (failure === undefined) return [];
  const { meaning, advice } = FAILURE_ADVICE[failure.reason];
  const success =
    lastSuccessMs === undefined
      ? 'No refresh has succeeded yet.'
      : html`Last successful refresh: ${momentText(lastSuccessMs, nowMs)}.`;
  return [
    html`<div class="failure-note">
<p><strong>${meaning}</strong> ${success}</p>
<p class="said"><code>${failure.reason}</code>: ${failure.message}</p>
<p>What to do: ${advice}</p>
</div>`,
  ];
}

/** Alertable resources, and those with at least one alert rule. */
export interface Coverage {
  readonly alertable: number;
  readonly withRules: number;
}

/** The coverage, or the explanation why it is unknown. */
export function coverageOf({ snapshot }: Pick<StationStatus, 'snapshot'>): Coverage | string {
  if (snapshot === undefined) return 'no snapshot is served';
  const { alertable, withoutRules } = snapshot;
  if (alertable === undefined) return 'alertability is not enabled';
  if (alertable === 0) return 'no resource can have alerts';
  if (withoutRules === undefined) return 'alert rules are not reported';
  return { alertable, withRules: alertable - withoutRules };
}

export function coverageText(coverage: Coverage | string): Html {
  if (typeof coverage === 'string') return unknown(coverage);
  return html`${shareText(coverage.withRules, coverage.alertable)}`;
}

export function snapshotAge(
  { snapshot, lastSuccessMs }: Pick<StationStatus, 'snapshot' | 'lastSuccessMs'>,
  nowMs: number,
): Html {
  return snapshot === undefined || lastSuccessMs === undefined
    ? unknown('no snapshot is served')
    : momentText(lastSuccessMs, nowMs);
}

export function completeText({ snapshot }: Pick<StationStatus, 'snapshot'>): Html {
  if (snapshot === undefined) return unknown('no snapshot is served');
  return snapshot.complete ? html`yes` : html`<span class="no">no</span>`;
}

export function nextRefreshText({ isRefreshing, waitingMs = 0, refresh, dueInMs }: RefreshStatus): string {
  if (waitingMs >= NOTABLE_WAIT_MS) return `waiting for capacity for ${durationText(waitingMs)}`;
  if (isRefreshing) return 'refreshing now';
  if (dueInMs <= 0) return refresh === 'scrape' ? 'on the next scrape' : 'due now';
  const delay = durationText(Math.max(dueInMs, 1000));
  return refresh === 'scrape' ? `on a scrape after ${delay}` : `in ${delay}`;
}
