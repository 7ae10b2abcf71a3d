import type { Request } from 'express';
import {
  type Coverage,
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
import { probePath, ROUTES, searchParams } from '../routes.ts';
import { failureGroups, failureSection, shortReason } from './failure-groups.ts';
import { fleetSummary } from './fleet-summary.ts';
import { figures, type Html, html, unknown } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, LIVE_SCRIPT, rowId } from './live-page.ts';
import { completeText, coverageText, snapshotAge, stateBadge, stationLink } from './station-parts.ts';
import { upstreamSection } from './upstream-load.ts';

/** An overview of all stations, with the table narrowed and sorted by the query. */
export function statusPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  const { now = Date.now, elapsedMs = () => performance.now() } = options;
  const tasks = new TaskQueue();
  const latest = cached(MAX_AGE_MS, elapsedMs, () =>
    renderStatus(exporter.stations(), exporter.upstreams(), now(), tasks),
  );
  return async (request, response) => {
    const content = statusContent(await latest(), parseQuery(request));
    sendPage(
      response,
      200,
      { title: EXPORTER, root: './', content, script: LIVE_SCRIPT, route: ROUTES.status },
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

/** Which stations the table shows, and in which order; '' means all, and the order of the configuration. */
interface StationQuery {
  readonly filter: string;
  readonly state: string;
  /** The key of a column, after a minus sign in descending order. */
  readonly sort: string;
}

/** Unknown states and columns are ignored. */
function parseQuery(request: Pick<Request, 'url'>): StationQuery {
  const given = searchParams(request);
  const [state, sort] = [given.get('state') ?? '', given.get('sort') ?? ''];
  return {
    filter: given.get('filter') ?? '',
    state: Object.hasOwn(STATION_STATES, state) ? state : '',
    sort: columnOf(sort) ? sort : '',
  };
}

function columnOf(sort: string): Column | undefined {
  const key = sort.replace(/^-/, '');
  return Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined;
}

function queryText(query: StationQuery): string {
  return `?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`;
}

/** The columns by which the table can be sorted; an undefined value is unknown. */
const COLUMNS: Readonly<Record<string, Column>> = {
  station: { heading: 'Station', value: ({ name }) => name },
  state: { heading: 'State', value: (station) => Object.keys(STATION_STATES).indexOf(stateOf(station)) },
  resources: { heading: 'Resources', value: ({ snapshot }) => snapshot?.resources },
  coverage: { heading: 'Coverage', value: (station) => shareOf(coverageOf(station)) },
  complete: { heading: 'Complete', value: ({ snapshot }) => snapshot && Number(snapshot.complete) },
  pages: { heading: 'Pages', value: ({ snapshot }) => snapshot?.pages },
  snapshot: { heading: 'Snapshot', value: ({ snapshot, lastSuccessMs }) => snapshot && lastSuccessMs },
  next_refresh: { heading: 'Next refresh', value: ({ isRefreshing, dueInMs }) => (isRefreshing ? 0 : dueInMs) },
};

interface Column {
  readonly heading: string;
  readonly value: (station: StationStatus) => string | number | undefined;
}

function shareOf(coverage: Coverage | string): number | undefined {
  return typeof coverage === 'string' ? undefined : coverage.withRules / coverage.alertable;
}

/** The parts of the page that do not depend on the query. */
interface RenderedStatus {
  readonly head: Html;
  readonly rows: readonly StationRow[];
}

interface StationRow {
  readonly station: StationStatus;
  /** What the filter searches, in lower case. */
  readonly text: string;
  readonly row: Html;
}

/** Rows that are rendered in one task, in one or two milliseconds. */
const ROWS_PER_TASK = 50;

async function renderStatus(
  stations: readonly StationStatus[],
  upstreams: readonly UpstreamStatus[],
  nowMs: number,
  tasks: TaskQueue,
): Promise<RenderedStatus> {
  const rows: StationRow[] = [];
  for (let at = 0; at < stations.length; at += ROWS_PER_TASK) {
    const some = stations.slice(at, at + ROWS_PER_TASK);
    rows.push(...(await tasks.run(() => some.map((station) => stationRow(station, nowMs)))));
  }
  const groups = await tasks.run(() => failureGroups(stations));
  const { text, tone } = await tasks.run(() => fleetSummary(stations, upstreams));
  const head = html`<p id="summary" class="summary ${tone}">${text}</p>
${statusTotals(stations)}
<div id="failures">${failureSection(groups, nowMs)}</div>
<div id="load">${upstreamSection(upstreams, nowMs)}</div>`;
  return { head, rows };
}

/** `data-label` replaces the heading on a narrow screen. */
export function stationRow(station: StationStatus, nowMs: number): StationRow {
  const { name, upstream, telemetryStation, snapshot, failure } = station;
  const reason = failure ? shortReason(failure) : '';
  const row = html`<tr id="${rowId(name)}">
<th scope="row">${stationLink(name)} <span class="sub">${upstream} · ${telemetryStation}</span></th>
<td data-label="State"><span>${stateBadge(station)}${reason === '' ? [] : html`<span class="hidden-text">:</span> <span class="sub">${reason}</span>`}</span></td>
<td class="number" data-label="Resources">${countOf(snapshot?.resources)}</td>
<td class="number" data-label="Coverage">${coverageText(coverageOf(station))}</td>
<td data-label="Complete">${completeText(station)}</td>
<td class="number" data-label="Pages">${countOf(snapshot?.pages)}</td>
<td data-label="Snapshot">${snapshotAge(station, nowMs)}</td>
<td data-label="Next refresh">${nextRefreshText(station)}</td>
<td data-label="Metrics"><a href="./${probePath(name)}">metrics<span class="hidden-text"> of ${name}</span></a></td>
</tr>
`;
  const text = [name, upstream, telemetryStation, STATION_STATES[stateOf(station)], reason].join(' ').toLowerCase();
  return { station, text, row };
}

function countOf(number: number | undefined): Html {
  return number === undefined ? unknown('no snapshot is served') : html`${numberText(number)}`;
}

function statusContent({ head, rows }: RenderedStatus, query: StationQuery): Html {
  const shown = sorted(
    rows.filter((row) => isMatch(row, query)),
    query.sort,
  );
  return html`${head}
${filterForm(query)}
<div class="results">
<p id="shown" role="status">${shown.length} of ${rows.length} stations shown</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
<table id="stations" class="cards">
<caption>Coverage is the share of alertable resources that have at least one alert rule.</caption>
<thead>
<tr>${Object.keys(COLUMNS).map((key) => heading(key, query))}<th scope="col">Metrics</th></tr>
</thead>
<tbody>
${shown.map(({ row }) => row)}</tbody>
</table>
${shown.length === 0 && rows.length > 0 ? html`<p id="no-match">No station matches. <a href="?">Clear the filter</a></p>` : []}`;
}

function isMatch({ station, text }: StationRow, { filter, state }: StationQuery): boolean {
  const words = filter.toLowerCase().split(/\s+/);
  return (state === '' || stateOf(station) === state) && words.every((word) => text.includes(word));
}

/** Unknown values are last in either direction. */
function sorted(rows: readonly StationRow[], sort: string): readonly StationRow[] {
  const column = columnOf(sort);
  if (column === undefined) return rows;
  const sign = sort.startsWith('-') ? -1 : 1;
  const { compare } = new Intl.Collator('en', { numeric: true });
  return rows.toSorted((a, b) => {
    const [left, right] = [column.value(a.station), column.value(b.station)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return sign * (typeof left === 'string' ? compare(left, String(right)) : left - Number(right));
  });
}

/** By a GET request, so that the URL can be bookmarked; with the script, the table follows every change. */
function filterForm({ filter, state, sort }: StationQuery): Html {
  const option = (value: string, words: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : []}>${words}</option>`;
  const orders = Object.entries(COLUMNS).flatMap(([key, column]) => [
    option(key, `${column.heading}, ascending`, sort),
    option(`-${key}`, `${column.heading}, descending`, sort),
  ]);
  return html`<form id="controls" class="controls" role="search" aria-label="Stations" method="get" action="#stations" data-live>
<label for="filter">Filter <input id="filter" name="filter" type="search" value="${filter}" autocomplete="off" spellcheck="false"></label>
<label for="state">State <select id="state" name="state">${option('', 'any', state)}${Object.entries(STATION_STATES).map(([key, words]) => option(key, words, state))}</select></label>
<label class="narrow" for="sort">Sort by <select id="sort" name="sort">${option('', 'configuration', sort)}${orders}</select></label>
<button type="submit">Show</button>
</form>`;
}

/** A heading sorts by its column, and reverses the order when followed again. */
function heading(key: string, query: StationQuery): Html {
  const sort = query.sort === key ? `-${key}` : key;
  const order = { [key]: 'ascending', [`-${key}`]: 'descending' }[query.sort];
  const isNumber = ['resources', 'coverage', 'pages'].includes(key);
  return html`<th scope="col"${isNumber ? html` class="number"` : []}${order ? html` aria-sort="${order}"` : []}><a href="${queryText({ ...query, sort })}" data-live>${COLUMNS[key]?.heading ?? ''}</a></th>`;
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
