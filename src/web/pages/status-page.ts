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
import { type Column, select, sortSelect, table, tableRow } from './table.ts';
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

/** An unknown state is ignored. */
function parseQuery(request: Pick<Request, 'url'>): StationQuery {
  const given = searchParams(request);
  const state = given.get('state') ?? '';
  return {
    filter: given.get('filter') ?? '',
    state: Object.hasOwn(STATION_STATES, state) ? state : '',
    sort: given.get('sort') ?? '',
  };
}

function queryText(query: StationQuery): string {
  return `?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`;
}

interface StationColumn extends Column<StationStatus> {
  /** What the table is sorted by; undefined is unknown. */
  readonly value: (station: StationStatus) => string | number | undefined;
}

function stationColumns(nowMs: number): readonly StationColumn[] {
  return [
    {
      ...{ heading: 'Station', by: 'station', value: ({ name }) => name },
      cell: ({ name, upstream, telemetryStation }) =>
        html`${stationLink(name)} <span class="sub">${upstream} · ${telemetryStation}</span>`,
    },
    {
      ...{ heading: 'State', by: 'state', value: (station) => Object.keys(STATION_STATES).indexOf(stateOf(station)) },
      cell: (station) => stateText(station),
    },
    countColumn('Resources', 'resources', ({ snapshot }) => snapshot?.resources),
    {
      ...{ heading: 'Coverage', by: 'coverage', isNumber: true, value: (station) => shareOf(coverageOf(station)) },
      cell: (station) => coverageText(coverageOf(station)),
    },
    {
      ...{ heading: 'Complete', by: 'complete', value: ({ snapshot }) => snapshot && Number(snapshot.complete) },
      cell: completeText,
    },
    countColumn('Pages', 'pages', ({ snapshot }) => snapshot?.pages),
    {
      ...{ heading: 'Snapshot', by: 'snapshot', value: ({ snapshot, lastSuccessMs }) => snapshot && lastSuccessMs },
      cell: (station) => snapshotAge(station, nowMs),
    },
    {
      ...{ heading: 'Next refresh', by: 'next_refresh' },
      value: ({ isRefreshing, dueInMs }) => (isRefreshing ? 0 : dueInMs),
      cell: nextRefreshText,
    },
    {
      ...{ heading: 'Metrics', value: () => undefined },
      cell: ({ name }) => html`<a href="./${probePath(name)}">metrics<span class="hidden-text"> of ${name}</span></a>`,
    },
  ];
}

function countColumn(
  heading: string,
  by: string,
  value: (station: StationStatus) => number | undefined,
): StationColumn {
  const cell = (station: StationStatus) => {
    const count = value(station);
    return count === undefined ? unknown('no snapshot is served') : numberText(count);
  };
  return { heading, by, isNumber: true, value, cell };
}

function stateText(station: StationStatus): Html {
  const reason = station.failure && shortReason(station.failure);
  return html`${stateBadge(station)}${reason ? html`<span class="hidden-text">:</span> <span class="sub">${reason}</span>` : []}`;
}

function shareOf(coverage: Coverage | string): number | undefined {
  return typeof coverage === 'string' ? undefined : coverage.withRules / coverage.alertable;
}

/** The parts of the page that do not depend on the query. */
interface RenderedStatus {
  readonly head: Html;
  readonly columns: readonly StationColumn[];
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
  const columns = stationColumns(nowMs);
  const rows: StationRow[] = [];
  for (let at = 0; at < stations.length; at += ROWS_PER_TASK) {
    const some = stations.slice(at, at + ROWS_PER_TASK);
    rows.push(...(await tasks.run(() => some.map((station) => stationRow(station, columns)))));
  }
  const groups = await tasks.run(() => failureGroups(stations));
  const { text, tone } = await tasks.run(() => fleetSummary(stations, upstreams));
  const head = html`<p id="summary" class="summary ${tone}">${text}</p>
${statusTotals(stations)}
<div id="failures">${failureSection(groups, nowMs)}</div>
<div id="load">${upstreamSection(upstreams, nowMs)}</div>`;
  return { head, columns, rows };
}

function stationRow(station: StationStatus, columns: readonly StationColumn[]): StationRow {
  const { name, upstream, telemetryStation, failure } = station;
  const words = [
    name,
    upstream,
    telemetryStation,
    STATION_STATES[stateOf(station)],
    failure ? shortReason(failure) : '',
  ];
  return { station, text: words.join(' ').toLowerCase(), row: tableRow(columns, station, rowId(name)) };
}

function statusContent({ head, columns, rows }: RenderedStatus, query: StationQuery): Html {
  const shown = sorted(
    rows.filter((row) => isMatch(row, query)),
    columns,
    query.sort,
  );
  const link = (sort: string) => html`href="${queryText({ ...query, sort })}" data-live`;
  const caption = html`<caption>Coverage is the share of alertable resources that have at least one alert rule.</caption>\n`;
  return html`${head}
${filterForm(query, columns)}
<div class="results">
<p id="shown" role="status">${shown.length} of ${rows.length} stations shown</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${table(
  { id: 'stations', columns, caption, sorting: { sort: query.sort, link } },
  shown.map(({ row }) => row),
)}
${shown.length === 0 && rows.length > 0 ? html`<p id="no-match">No station matches. <a href="?">Clear the filter</a></p>` : []}`;
}

function isMatch({ station, text }: StationRow, { filter, state }: StationQuery): boolean {
  const words = filter.toLowerCase().split(/\s+/);
  return (state === '' || stateOf(station) === state) && words.every((word) => text.includes(word));
}

/** Unknown values are last in either direction; a column that does not exist is ignored. */
function sorted(rows: readonly StationRow[], columns: readonly StationColumn[], sort: string): readonly StationRow[] {
  const column = columns.find(({ by }) => by === sort.replace(/^-/, ''));
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
function filterForm({ filter, state, sort }: StationQuery, columns: readonly StationColumn[]): Html {
  return html`<form id="controls" class="controls" role="search" aria-label="Stations" method="get" action="#stations" data-live>
<label for="filter">Filter <input id="filter" name="filter" type="search" value="${filter}" autocomplete="off" spellcheck="false"></label>
${select('state', 'State', [['', 'any'], ...Object.entries(STATION_STATES)], state)}
${sortSelect(columns, sort, 'configuration')}
<button type="submit">Show</button>
</form>`;
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
