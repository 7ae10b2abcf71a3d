import { type Html, html } from './html.ts';
import { probePath, stationPath } from './page-paths.ts';
import type { StationStatus } from './port.ts';
import {
  completeText,
  coverageOf,
  coverageText,
  failureNote,
  nextRefreshText,
  STATION_STATES,
  snapshotAge,
  stateMark,
  stateOf,
} from './station-state.ts';
import { numberText, unknown } from './words.ts';

/** The columns of the stations, and what the browser can sort them by. */
const COLUMNS = [
  { heading: 'Station', sort: 'text' },
  { heading: 'State', sort: 'number' },
  { heading: 'Resources', sort: 'number', isNumber: true },
  { heading: 'Coverage', sort: 'number', isNumber: true },
  { heading: 'Complete', sort: 'number' },
  { heading: 'Pages', sort: 'number', isNumber: true },
  { heading: 'Snapshot', sort: 'number' },
  { heading: 'Next refresh', sort: 'number' },
  { heading: 'Metrics' },
] as const;

export const STATION_HEADINGS: readonly Html[] = COLUMNS.map((column) => {
  const sort = 'sort' in column ? html` data-sort="${column.sort}"` : [];
  const number = 'isNumber' in column ? html` class="number"` : [];
  return html`<th scope="col"${number}${sort}>${column.heading}</th>`;
});

/**
 * One station of the status page as a row group of its own: its numbers and, while it fails, why.
 * The data-value is what a cell is sorted by; the data-label stands for the heading where a narrow screen hides that.
 */
export function stationRow(station: StationStatus, nowMs: number): Html {
  const { name, upstream, telemetryStation, snapshot, lastSuccessMs } = station;
  const path = stationPath(name);
  const coverage = coverageOf(station);
  const failure = failureNote(station, nowMs).map(
    (note) => html`<tr class="failure-row"><td colspan="${COLUMNS.length}">${note}</td></tr>\n`,
  );
  return html`<tbody data-station="${name}" data-state="${stateOf(station)}">
<tr>
<th scope="row" data-value="${name}">${path === undefined ? name : html`<a href="./${path}">${name}</a>`} <span class="sub">${upstream} · ${telemetryStation}</span></th>
<td data-label="State" data-value="${Object.keys(STATION_STATES).indexOf(stateOf(station))}">${stateMark(station)}</td>
<td class="number" data-label="Resources"${value(snapshot?.resources)}>${countOf(snapshot?.resources)}</td>
<td class="number" data-label="Coverage"${value(typeof coverage === 'string' ? undefined : coverage.withRules / coverage.alertable)}>${coverageText(coverage)}</td>
<td data-label="Complete"${value(snapshot && Number(snapshot.complete))}>${completeText(station)}</td>
<td class="number" data-label="Pages"${value(snapshot?.pages)}>${countOf(snapshot?.pages)}</td>
<td data-label="Snapshot"${value(snapshot && lastSuccessMs)}>${snapshotAge(station, nowMs)}</td>
<td data-label="Next refresh"${value(station.isRefreshing ? 0 : station.dueInMs)}>${nextRefreshText(station)}</td>
<td data-label="Metrics"><a href="./${probePath(name)}">metrics<span class="hidden-text"> of ${name}</span></a></td>
</tr>
${failure}</tbody>
`;
}

/** None where nothing is known: such cells come last, whichever way they are sorted. */
function value(number: number | undefined): Html {
  return number === undefined ? html`` : html` data-value="${number}"`;
}

function countOf(number: number | undefined): Html {
  return number === undefined ? unknown('no snapshot is served') : html`${numberText(number)}`;
}
