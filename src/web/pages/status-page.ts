import {
  coverageOf,
  nextRefreshText,
  STATION_STATES,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { numberText } from '../../inventory/words.ts';
import { TaskQueue } from '../../model/task-queue.ts';
import type { ExporterPort } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { probePath, ROUTES } from '../routes.ts';
import { keepCurrent } from './browser/keep-current.ts';
import { statusScript } from './browser/status.ts';
import { failureGroups, failureSection, shortReason } from './failure-groups.ts';
import { fleetSummary } from './fleet-summary.ts';
import { figures, type Html, html, unknown } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { completeText, coverageText, snapshotAge, stateBadge, stationLink } from './station-parts.ts';
import { upstreamSection } from './upstream-load.ts';

const SCRIPT = `'use strict';
(${statusScript})(${keepCurrent});
`;

/** An overview of all stations. The controls are hidden until the script runs. */
export function statusPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  const { now = Date.now, elapsedMs = () => performance.now() } = options;
  const tasks = new TaskQueue();
  const latest = cached(MAX_AGE_MS, elapsedMs, () =>
    statusContent(exporter.stations(), exporter.upstreams(), now(), tasks),
  );
  return async (_request, response) => {
    sendPage(
      response,
      200,
      { title: EXPORTER, root: './', content: await latest(), script: SCRIPT, route: ROUTES.status },
      options,
    );
  };
}

/** Less than the interval in which a browser fetches the page again; many browsers share one. */
const MAX_AGE_MS = 1000;

/** Creates a value when the last one is older than that, one at a time. */
function cached<T>(maxAgeMs: number, elapsedMs: () => number, create: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let expiresMs = 0;
  return () => {
    if (latest !== undefined && elapsedMs() < expiresMs) return latest;
    expiresMs = Number.POSITIVE_INFINITY;
    latest = create().finally(() => {
      expiresMs = elapsedMs() + maxAgeMs;
    });
    return latest;
  };
}

/** Rows that are rendered in one task, in one or two milliseconds. */
const ROWS_PER_TASK = 50;

async function statusContent(
  stations: readonly StationStatus[],
  upstreams: readonly UpstreamStatus[],
  nowMs: number,
  tasks: TaskQueue,
): Promise<Html> {
  const rows: Html[] = [];
  for (let at = 0; at < stations.length; at += ROWS_PER_TASK) {
    const some = stations.slice(at, at + ROWS_PER_TASK);
    rows.push(await tasks.run(() => html`${some.map((station) => stationRow(station, nowMs))}`));
  }
  const groups = await tasks.run(() => failureGroups(stations));
  const { text, tone } = await tasks.run(() => fleetSummary(stations, upstreams, nowMs));
  return html`<p id="summary" class="summary ${tone}">${text}</p>
${statusTotals(stations)}
<div id="failures">${failureSection(groups, nowMs)}</div>
<div id="load">${upstreamSection(upstreams, nowMs)}</div>
<p id="currency" class="notice" role="status"></p>
<div id="controls" class="controls" role="search" aria-label="Stations" hidden>
<label for="filter">Filter <input id="filter" type="search" autocomplete="off" spellcheck="false"></label>
<label for="state">State <select id="state"><option value="">any</option>${Object.entries(STATION_STATES).map(
    ([state, words]) => html`<option value="${state}">${words}</option>`,
  )}</select></label>
<label class="narrow-only" for="sort">Sort by <select id="sort"><option value="">configuration</option>${SORT_OPTIONS}</select></label>
<button id="pause" type="button" aria-pressed="false">Pause updates</button>
<p id="shown" role="status"></p>
</div>
<table id="stations" class="cards">
<caption>Coverage is the share of alertable resources that have at least one alert rule.</caption>
<thead>
<tr>${STATION_HEADINGS}</tr>
</thead>
${rows}</table>
<p id="no-match" hidden>No station matches. <button id="clear" type="button">Clear the filter</button></p>`;
}

/** The columns of the table, and how the browser sorts them by the parameter `sort`. */
const COLUMNS = [
  { heading: 'Station', key: 'station', sort: 'text' },
  { heading: 'State', key: 'state', sort: 'number' },
  { heading: 'Resources', key: 'resources', sort: 'number', isNumber: true },
  { heading: 'Coverage', key: 'coverage', sort: 'number', isNumber: true },
  { heading: 'Complete', key: 'complete', sort: 'number' },
  { heading: 'Pages', key: 'pages', sort: 'number', isNumber: true },
  { heading: 'Snapshot', key: 'snapshot', sort: 'number' },
  { heading: 'Next refresh', key: 'next_refresh', sort: 'number' },
  { heading: 'Metrics' },
] as const;

const STATION_HEADINGS: readonly Html[] = COLUMNS.map((column) => {
  const sort = 'sort' in column ? html` data-key="${column.key}" data-sort="${column.sort}"` : [];
  const number = 'isNumber' in column ? html` class="number"` : [];
  return html`<th scope="col"${number}${sort}>${column.heading}</th>`;
});

const SORT_OPTIONS: readonly Html[] = COLUMNS.flatMap((column) =>
  'key' in column
    ? [
        html`<option value="${column.key}">${column.heading}, ascending</option>`,
        html`<option value="-${column.key}">${column.heading}, descending</option>`,
      ]
    : [],
);

/**
 * A row group per station, because they are moved and hidden by station.
 * `data-value` is the sort key of a cell; `data-label` replaces the heading on a narrow screen.
 */
export function stationRow(station: StationStatus, nowMs: number): Html {
  const { name, upstream, telemetryStation, snapshot, lastSuccessMs } = station;
  const coverage = coverageOf(station);
  const reason = station.failure
    ? html`<span class="hidden-text">:</span> <span class="sub">${shortReason(station.failure)}</span>`
    : [];
  return html`<tbody data-station="${name}" data-state="${stateOf(station)}">
<tr>
<th scope="row" data-value="${name}">${stationLink(name)} <span class="sub">${upstream} · ${telemetryStation}</span></th>
<td data-label="State" data-value="${Object.keys(STATION_STATES).indexOf(stateOf(station))}">${stateBadge(station)}${reason}</td>
<td class="number" data-label="Resources"${value(snapshot?.resources)}>${countOf(snapshot?.resources)}</td>
<td class="number" data-label="Coverage"${value(typeof coverage === 'string' ? undefined : coverage.withRules / coverage.alertable)}>${coverageText(coverage)}</td>
<td data-label="Complete"${value(snapshot && Number(snapshot.complete))}>${completeText(station)}</td>
<td class="number" data-label="Pages"${value(snapshot?.pages)}>${countOf(snapshot?.pages)}</td>
<td data-label="Snapshot"${value(snapshot && lastSuccessMs)}>${snapshotAge(station, nowMs)}</td>
<td data-label="Next refresh"${value(station.isRefreshing ? 0 : station.dueInMs)}>${nextRefreshText(station)}</td>
<td data-label="Metrics"><a href="./${probePath(name)}">metrics<span class="hidden-text"> of ${name}</span></a></td>
</tr>
</tbody>
`;
}

/** No attribute when the value is unknown: the script sorts such cells last. */
function value(number: number | undefined): Html {
  return number === undefined ? html`` : html` data-value="${number}"`;
}

function countOf(number: number | undefined): Html {
  return number === undefined ? unknown('no snapshot is served') : html`${numberText(number)}`;
}

/** Totals over all stations. */
export function statusTotals(stations: readonly StationStatus[]): Html {
  const inState = (state: ReturnType<typeof stateOf>) =>
    numberText(stations.filter((station) => stateOf(station) === state).length);
  const resources = stations.reduce((sum, { snapshot }) => sum + (snapshot?.resources ?? 0), 0);
  return figures('totals', [
    ['Stations', numberText(stations.length)],
    ['Up', inState('up')],
    ['Failing', inState('failing')],
    ['No data', inState('no-data')],
    ['Not tried', inState('not-tried')],
    ['Resources', numberText(resources)],
    ['Coverage', coverageText(totalCoverage(stations))],
  ]);
}

/** Over the stations whose coverage is known. */
function totalCoverage(stations: readonly StationStatus[]): ReturnType<typeof coverageOf> {
  const known = stations.map(coverageOf).filter((coverage) => typeof coverage === 'object');
  if (known.length === 0) return 'unknown for every station';
  const sum = (key: 'alertable' | 'withRules') => known.reduce((total, coverage) => total + coverage[key], 0);
  return { alertable: sum('alertable'), withRules: sum('withRules') };
}
