import {
  type Coverage,
  noDataReason,
  type RefreshStatus,
  STATION_STATES,
  type StationStatus,
  stateOf,
} from '../../inventory/station-status.ts';
import { shareText } from '../../inventory/words.ts';
import { failureAdvice } from '../../model/failure.ts';
import { stationPath } from '../routes.ts';
import { type Html, html, momentText, unknown } from './html.ts';

/** The state of a station in words and colour. */
export function stateBadge(station: Pick<StationStatus, 'up' | 'snapshot'> & RefreshStatus): Html {
  const state = stateOf(station);
  const badge = html`<span class="state ${state}">${STATION_STATES[state]}</span>`;
  return state === 'no-data'
    ? html`${badge}<span class="hidden-text">:</span> <span class="sub">${noDataReason(station)}</span>`
    : badge;
}

/** The name of a station with a link; without one if the name cannot be part of a path. */
export function stationLink(name: string, root = './'): Html {
  const path = stationPath(name);
  return path === undefined ? html`${name}` : html`<a href="${root}${path}">${name}</a>`;
}

/** Reason, meaning and advice for the failure of the latest refresh; empty when it succeeded. */
export function failureNote(
  { failure, lastSuccessMs }: Pick<StationStatus, 'failure' | 'lastSuccessMs'>,
  nowMs: number,
): readonly Html[] {
  if (failure === undefined) return [];
  const { meaning, advice } = failureAdvice(failure);
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
