import { NONE, oneOf, parseParameters, queryText, resourceSearch, TEXT } from '../../inventory/parameters.ts';
import type { Selection } from '../../inventory/selection.ts';
import {
  coverageOf,
  nextRefreshText,
  type OwnerCount,
  STATION_STATES,
  type StationStatus,
  stateOf,
} from '../../inventory/station-status.ts';
import { countText, numberText } from '../../inventory/words.ts';
import type { ExporterPort, RejectedReload } from '../port.ts';
import { ROUTES, searchParams, stationPath } from '../routes.ts';
import { failureGroups, failureSection, fleetSummary, shortReason } from './fleet-summary.ts';
import { outageText } from './history.ts';
import { figures, type Html, html, momentText, rowId } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import {
  completeness,
  coverageText,
  lastSuccess,
  linkedCount,
  NO_DATA,
  stateBadge,
  stationLink,
  upstreamSection,
} from './station-parts.ts';
import { type Column, select, sortSelect, table, tableRow } from './table.ts';

/** An overview of all stations, with the table narrowed and sorted by the query. */
export const statusPage: PageHandler = (exporter, options) => {
  const latest = cached(MAX_AGE_MS, options.elapsedMs, () => renderStatus(exporter, options.now()));
  return async (request, response) => {
    const { values } = parseParameters(searchParams(request), PARAMETERS);
    const content = statusContent(await latest(), values);
    sendPage(response, { root: './', content, isLive: true, route: ROUTES.status }, options);
  };
};

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

/** What a total counts, and the table can be filtered by. */
const STATES = ['up', 'failing', 'not-tried', 'no-data', 'incomplete'] as const;

function isIn(station: StationStatus, state: string): boolean {
  if (state === 'no-data') return station.snapshot === undefined;
  return state === 'incomplete' ? completeness(station) !== '' : stateOf(station) === state;
}

const PARAMETERS = {
  filter: TEXT,
  state: oneOf(STATES),
  upstream: TEXT,
  /** The key of a column, after a minus sign in descending order. */
  sort: TEXT,
};

/** Which stations the table shows, and in which order; by default all, in the order of the configuration. */
type StationQuery = Readonly<Partial<Record<keyof typeof PARAMETERS, string>>>;

interface StationColumn extends Column<StationStatus> {
  /** What the table is sorted by; undefined is unknown. */
  readonly value: (station: StationStatus) => string | number | undefined;
}

function stationColumns(nowMs: number): readonly StationColumn[] {
  return [
    {
      heading: 'Station',
      by: 'station',
      value: ({ name }) => name,
      cell: ({ name, upstream, telemetryStation }) =>
        html`${stationLink(name)} <span class="sub">${upstream} · ${telemetryStation}</span>`,
    },
    {
      heading: 'State',
      by: 'state',
      value: (station) => Object.keys(STATION_STATES).indexOf(stateOf(station)),
      cell: (station) => stateText(station),
    },
    countColumn('Resources', 'resources', ''),
    countColumn('Firing', 'firing', '?state=firing'),
    countColumn('Pending', 'pending', '?state=pending'),
    {
      heading: 'Coverage',
      by: 'coverage',
      isNumber: true,
      value: (station) => {
        const coverage = coverageOf(station);
        return typeof coverage === 'string' ? undefined : coverage.withRules / coverage.alertable;
      },
      cell: (station) => coverageText(coverageOf(station)),
    },
    {
      heading: 'Complete',
      by: 'complete',
      value: ({ snapshot }) => snapshot && Number(snapshot.complete),
      cell: completeText,
    },
    {
      heading: 'Last success',
      by: 'last_success',
      value: ({ lastSuccessMs }) => lastSuccessMs,
      cell: (station) => lastSuccess(station, nowMs),
    },
    {
      heading: 'Next refresh',
      by: 'next_refresh',
      value: ({ isRefreshing, dueInMs }) => (isRefreshing ? 0 : dueInMs),
      cell: nextRefreshText,
    },
  ];
}

/** A number of resources, with a link to them on the page of the station. */
function countColumn(heading: string, by: 'resources' | 'firing' | 'pending', query: string): StationColumn {
  const value = ({ snapshot }: StationStatus) => snapshot?.[by];
  const cell = (station: StationStatus) => {
    const path = stationPath(station.name);
    return linkedCount(value(station), path && `./${path}${query}#resources`);
  };
  return { heading, by, isNumber: true, value, cell };
}

function completeText(station: StationStatus): Html {
  if (station.snapshot === undefined) return NO_DATA;
  const missing = completeness(station);
  return missing === '' ? html`yes` : html`<span class="no">${missing}</span>`;
}

function stateText(station: StationStatus): Html {
  const reason = station.failure && shortReason(station.failure);
  return html`${stateBadge(station)}${reason ? html`<span class="hidden-text">:</span> <span class="sub">${reason}</span>` : []}`;
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

async function renderStatus(exporter: ExporterPort, nowMs: number): Promise<RenderedStatus> {
  const { tasks } = exporter;
  const [stations, upstreams, rejected] = [exporter.stations(), exporter.upstreams(), exporter.rejectedReload()];
  const columns = stationColumns(nowMs);
  const rows: StationRow[] = [];
  for (let at = 0; at < stations.length; at += ROWS_PER_TASK) {
    const some = stations.slice(at, at + ROWS_PER_TASK);
    rows.push(...(await tasks.run(() => some.map((station) => stationRow(station, columns)))));
  }
  const groups = await tasks.run(() => failureGroups(stations));
  const { text, tone } = await tasks.run(() => fleetSummary(stations, upstreams, groups));
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  const notCounted =
    withoutData === 0
      ? []
      : html`<p class="quiet">Resources, firing, pending and coverage exclude ${countText(withoutData, 'station')} without data.</p>`;
  const head = html`<p id="summary" class="summary ${rejected && tone === 'good' ? 'warning' : tone}">${text}</p>
<div id="reload">${rejected ? reloadNote(rejected, nowMs) : []}</div>
${statusTotals(stations)}
<div id="not-counted">${notCounted}</div>
<div id="failures">${failureSection(groups, nowMs)}</div>
<div id="outages">${outageSection(stations, nowMs)}</div>
<div id="load">${upstreamSection(upstreams, nowMs)}</div>
<div id="owners">${ownerSection(await exporter.owners(), notCounted)}</div>`;
  return { head, columns, rows };
}

function reloadNote({ atMs, problems }: RejectedReload, nowMs: number): Html {
  const items = problems.map((problem) => html`<li>${problem}</li>`);
  return html`<div class="failure-note"><p><strong>The configuration reload failed ${momentText(atMs, nowMs)}: the previous configuration remains in use.</strong></p>
<ul>${items}</ul></div>`;
}

/** Outages that the page lists. */
const MAX_OUTAGES = 20;

/** Of the last hour, also those that have ended, the latest first. */
function outageSection(stations: readonly StationStatus[], nowMs: number): Html {
  const recent = stations
    .flatMap(({ name, outages }) => outages.map((outage) => ({ name, ...outage })))
    .filter(({ toMs = nowMs }) => nowMs - toMs < HOUR_MS)
    .sort((a, b) => b.fromMs - a.fromMs);
  if (recent.length === 0) return html``;
  const items = recent
    .slice(0, MAX_OUTAGES)
    .map((outage) => html`<li>${stationLink(outage.name)} ${outageText(outage, nowMs)}</li>\n`);
  const more = recent.length > MAX_OUTAGES ? html`<li>${numberText(recent.length - MAX_OUTAGES)} more</li>\n` : [];
  return html`<section aria-labelledby="outages-title">
<h2 id="outages-title">Outages of the last hour</h2>
<ul class="outages">
${items}${more}</ul>
</section>`;
}

const HOUR_MS = 3_600_000;

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
  const { sort = '' } = query;
  const matching = rows.filter((row) => isMatch(row, query));
  const shown = sorted(matching, columns, sort);
  const link = (by: string) => html`href="${queryText({ ...query, sort: by })}#stations"`;
  const caption = html`Coverage is the share of resources that have at least one alert rule: of the alertable ones where <code>alertability</code> is enabled.`;
  return html`${head}
${filterForm(query, columns, rows)}
<div class="results">
<p id="shown" role="status">${shown.length} of ${rows.length} stations shown</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${table(
  { id: 'stations', columns, caption, sorting: { sort, link } },
  shown.map(({ row }) => row),
)}
${shown.length === 0 && rows.length > 0 ? html`<p id="no-match">No station matches. <a href="?">Clear the filter</a></p>` : []}`;
}

function isMatch({ station, text }: StationRow, { filter = '', state, upstream }: StationQuery): boolean {
  const words = filter.toLowerCase().split(/\s+/);
  return (
    (state === undefined || isIn(station, state)) &&
    (upstream === undefined || station.upstream === upstream) &&
    words.every((word) => text.includes(word))
  );
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

/** By a GET request, so that the URL can be bookmarked. */
function filterForm(
  { filter = '', state, upstream = '', sort = '' }: StationQuery,
  columns: readonly StationColumn[],
  rows: readonly StationRow[],
): Html {
  const upstreams = new Set(rows.map(({ station }) => station.upstream));
  return html`<form id="controls" class="controls" role="search" aria-label="Stations" method="get" action="#stations">
<label for="filter">Filter <input id="filter" name="filter" type="search" value="${filter}" autocomplete="off" spellcheck="false"></label>
${select(
  'state',
  'State',
  STATES.map((name) => [name, name.replace('-', ' ')] as const),
  state,
)}
${upstreams.size < 2 && upstream === '' ? [] : select('upstream', 'Upstream', [...upstreams], upstream)}
${sortSelect(columns, sort, 'configuration')}
<button type="submit">Show</button>
</form>`;
}

/** Totals over the stations whose numbers are known. */
export function statusTotals(stations: readonly StationStatus[]): Html {
  const count = (state: (typeof STATES)[number]) =>
    linkedCount(stations.filter((station) => isIn(station, state)).length, `?state=${state}#stations`);
  const snapshots = stations.flatMap(({ snapshot }) => snapshot ?? []);
  const coverages = stations.map(coverageOf).filter((coverage) => typeof coverage === 'object');
  const [alertable, withRules = 0] = [sumOf(coverages, 'alertable'), sumOf(coverages, 'withRules')];
  return figures('totals', [
    ['Stations', numberText(stations.length)],
    ['Up', count('up')],
    ['Failing', count('failing')],
    ['Not tried', count('not-tried')],
    ['No data', count('no-data')],
    ['Incomplete', snapshots.length === 0 ? NO_DATA : count('incomplete')],
    ['Resources', linkedCount(sumOf(snapshots, 'resources'), undefined)],
    ['Firing', linkedCount(sumOf(snapshots, 'firing'), `.${ROUTES.search}?state=firing`)],
    ['Pending', linkedCount(sumOf(snapshots, 'pending'), `.${ROUTES.search}?state=pending`)],
    ['Coverage', coverageText(alertable === undefined ? 'unknown for every station' : { alertable, withRules })],
  ]);
}

/** undefined without any row: the sum is unknown then. */
function sumOf<Key extends string>(rows: readonly Readonly<Record<Key, number>>[], key: Key): number | undefined {
  return rows.length === 0 ? undefined : rows.reduce((sum, row) => sum + row[key], 0);
}

/** A table per label of `resource_labels`, below a note; empty without any. */
function ownerSection(counts: readonly OwnerCount[], note: Html | readonly Html[]): readonly Html[] {
  return [...new Set(counts.map(({ label }) => label))].map((label) => {
    const columns = columnsOf(label);
    const rows = counts.filter((count) => count.label === label);
    return html`<h2 id="by-${label}">Resources by ${label}</h2>
${note}
${table(
  { id: `owners-${label}`, columns, caption: `Resources by ${label}` },
  rows.map((row) => tableRow(columns, row, rowId(`${label} ${row.value}`))),
)}
`;
  });
}

function columnsOf(label: string): readonly Column<OwnerCount>[] {
  return [
    { heading: label, cell: (count) => html`<a href="${searchHref(count)}">${count.value || NONE}</a>` },
    { heading: 'Resources', isNumber: true, cell: (count) => linkedCount(count.resources, searchHref(count)) },
    {
      heading: 'Firing',
      isNumber: true,
      cell: (count) => linkedCount(count.firing, searchHref(count, { state: 'firing' })),
    },
    {
      heading: 'Coverage',
      isNumber: true,
      cell: ({ coverage }) => coverageText(coverage ?? 'no resource can have alerts, or alert rules are not reported'),
    },
  ];
}

function searchHref({ label, value }: OwnerCount, further: Selection = {}): string {
  return `.${ROUTES.search}${resourceSearch({ selection: { ...further, [label]: value } })}`;
}
