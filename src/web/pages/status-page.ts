import { NONE, oneOf, parseParameters, queryText, resourceSearch, TEXT } from '../../inventory/parameters.ts';
import type { Selection } from '../../inventory/selection.ts';
import {
  type Coverage,
  coverageShare,
  nextRefreshText,
  type OwnerCount,
  STATION_STATES,
  type StationStatus,
  stateOf,
} from '../../inventory/station-status.ts';
import { allUnknownStates } from '../../inventory/unknown-states.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { HOUR_MS } from '../../model/clock.ts';
import { sumIfKnown } from '../../refresh/aggregates.ts';
import type { TaskQueue } from '../../tasks/task-queue.ts';
import type { RejectedReload } from '../port.ts';
import { ROUTES, searchParams, stationPath } from '../routes.ts';
import { failureGroups, failureSection, fleetSummary, shortReason } from './fleet-summary.ts';
import { outageText } from './history.ts';
import { figures, type Html, html, momentText, rowId } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import {
  completeness,
  coverageText,
  knownCounts,
  lastSuccess,
  linkedCount,
  NO_DATA_CELL,
  stateBadge,
  stationLink,
  unknownFigure,
  unknownStatesNote,
  upstreamSection,
} from './station-parts.ts';
import { type PageColumn, selectBox, sortSelect, table, tableRow } from './table.ts';

/** An overview of all stations, with the table narrowed and sorted by the query. */
export const statusPage: PageHandler = (exporter, options) => async (request, response) => {
  const { values } = parseParameters(searchParams(request), STATUS_PARAMETERS);
  const { tasks } = exporter;
  const nowMs = options.now();
  const [stations, upstreams, rejected] = [exporter.stations(), exporter.upstreams(), exporter.rejectedReload()];
  const groups = await tasks.run(() => failureGroups(stations));
  const { text, tone } = await tasks.run(() => fleetSummary(stations, upstreams, groups));
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  const notCounted =
    withoutData === 0
      ? []
      : html`<p class="quiet">Resources, firing, pending and coverage exclude ${countText(withoutData, 'station')} without data.</p>`;
  const content = html`<p id="summary" class="summary ${rejected && tone === 'good' ? 'warning' : tone}">${text}</p>
<div id="reload">${rejected ? reloadNote(rejected, nowMs) : []}</div>
${statusTotals(stations)}
<div id="not-counted">${notCounted}</div>
<div id="unknown">${unknownStatesNote(allUnknownStates(stations.map(({ snapshot }) => snapshot?.unknownStates ?? [])))}</div>
<div id="failures">${failureSection(groups, nowMs)}</div>
<div id="outages">${outageSection(stations, nowMs)}</div>
<div id="load">${upstreamSection(upstreams, nowMs)}</div>
<div id="owners">${ownerSection(await exporter.owners(), notCounted)}</div>
${await stationTable(stations, values, nowMs, tasks)}`;
  sendPage(response, { root: './', content, isLive: true, route: ROUTES.status }, options);
};

/** What a total counts, and the table can be filtered by. */
const STATE_FILTERS = ['up', 'failing', 'not-tried', 'no-data', 'incomplete'] as const;

function isIn(station: StationStatus, state: string): boolean {
  if (state === 'no-data') return station.snapshot === undefined;
  return state === 'incomplete' ? completeness(station) !== '' : stateOf(station) === state;
}

const STATUS_PARAMETERS = {
  filter: TEXT,
  state: oneOf(STATE_FILTERS),
  upstream: TEXT,
  /** The key of a column, after a minus sign in descending order. */
  sort: TEXT,
};

/** Which stations the table shows, and in which order; by default all, in the order of the configuration. */
type StationQuery = Readonly<Partial<Record<keyof typeof STATUS_PARAMETERS, string>>>;

interface StationColumn extends PageColumn<StationStatus> {
  /** What the table is sorted by; undefined is unknown. */
  readonly value: (station: StationStatus) => string | number | undefined;
}

/** `hasUnknown`: a station has resources in states of unknown meaning. */
function statusColumns(nowMs: number, hasUnknown: boolean): readonly StationColumn[] {
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
      cell: (station) => stateBadge(station, station.failure && shortReason(station.failure)),
    },
    countColumn('Resources', 'resources', ''),
    countColumn('Firing', 'firing', '?alert_state=firing'),
    countColumn('Pending', 'pending', '?alert_state=pending'),
    ...(hasUnknown ? [countColumn('Unknown state', 'unknown', '?alert_state=unknown')] : []),
    {
      heading: 'Coverage',
      by: 'coverage',
      isNumber: true,
      value: ({ snapshot }) => snapshot && coverageShare(snapshot),
      cell: ({ snapshot }) => coverageText(snapshot),
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
function countColumn(
  heading: string,
  by: 'resources' | 'firing' | 'pending' | 'unknown',
  query: string,
): StationColumn {
  const value = ({ snapshot }: StationStatus) => knownCounts(snapshot)?.[by];
  const cell = (station: StationStatus) => {
    const path = stationPath(station.name);
    return linkedCount(value(station), path && `./${path}${query}#resources`);
  };
  return { heading, by, isNumber: true, value, cell };
}

function completeText(station: StationStatus): Html {
  if (station.snapshot === undefined) return NO_DATA_CELL;
  const missing = completeness(station);
  return missing === '' ? html`yes` : html`<span class="no">${missing}</span>`;
}

function reloadNote({ atMs, problems }: RejectedReload, nowMs: number): Html {
  const items = problems.map((problem) => html`<li>${problem}</li>`);
  return html`<div class="failure-note"><p><strong>The configuration reload failed ${momentText(atMs, nowMs)}: the previous configuration remains in use.</strong></p>
<ul>${items}</ul></div>`;
}

/** Outages that the page lists. */
const MAX_SHOWN_OUTAGES = 20;

/** Of the last hour, also those that have ended, the latest first. */
function outageSection(stations: readonly StationStatus[], nowMs: number): Html {
  const recent = stations
    .flatMap(({ name, outages }) => outages.map((outage) => ({ name, ...outage })))
    .filter(({ toMs = nowMs }) => nowMs - toMs < HOUR_MS)
    .sort((a, b) => b.fromMs - a.fromMs);
  if (recent.length === 0) return html``;
  const items = recent
    .slice(0, MAX_SHOWN_OUTAGES)
    .map((outage) => html`<li>${stationLink(outage.name)} ${outageText(outage, nowMs)}</li>\n`);
  const more =
    recent.length > MAX_SHOWN_OUTAGES ? html`<li>${numberText(recent.length - MAX_SHOWN_OUTAGES)} more</li>\n` : [];
  return html`<section aria-labelledby="outages-title">
<h2 id="outages-title">Outages of the last hour</h2>
<ul class="outages">
${items}${more}</ul>
</section>`;
}

/** The stations that the query selects, in its order. */
async function stationTable(
  stations: readonly StationStatus[],
  query: StationQuery,
  nowMs: number,
  tasks: TaskQueue,
): Promise<Html> {
  const { sort = '' } = query;
  const columns = statusColumns(
    nowMs,
    stations.some(({ snapshot }) => snapshot?.unknown),
  );
  const matching = stations.filter((station) => isMatch(station, query));
  const shown = sortedStations(matching, columns, sort).map((station) => [station] as const);
  const rows: Html[] = [];
  await tasks.forEach(shown, ([station]) => rows.push(tableRow(columns, station, rowId(station.name))));
  const link = (by: string) => html`href="${queryText({ ...query, sort: by })}#stations"`;
  const caption = html`Coverage is the share of resources that have at least one alert rule: of the alertable ones where <code>alertability</code> is enabled. Resources of which this is unknown are not part of it; their number is below it.`;
  return html`${stationFilterForm(query, columns, stations)}
<div class="results">
<p id="shown" role="status">${rows.length} of ${stations.length} stations shown</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${table({ id: 'stations', columns, caption, sorting: { sort, link } }, rows)}
${rows.length === 0 && stations.length > 0 ? html`<p id="no-match">No station matches. <a href="?">Clear the filter</a></p>` : []}`;
}

function isMatch(station: StationStatus, { filter = '', state, upstream = station.upstream }: StationQuery): boolean {
  const { name, telemetryStation, failure } = station;
  const reason = failure ? shortReason(failure) : '';
  const texts = [name, station.upstream, telemetryStation, STATION_STATES[stateOf(station)], reason];
  const text = texts.join(' ').toLowerCase();
  return (
    (state === undefined || isIn(station, state)) &&
    station.upstream === upstream &&
    filter
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}

/** Unknown values are last in either direction; a column that does not exist is ignored. */
function sortedStations(
  stations: readonly StationStatus[],
  columns: readonly StationColumn[],
  sort: string,
): readonly StationStatus[] {
  const column = columns.find(({ by }) => by === sort.replace(/^-/, ''));
  if (column === undefined) return stations;
  const sign = sort.startsWith('-') ? -1 : 1;
  const { compare } = new Intl.Collator('en', { numeric: true });
  return stations.toSorted((a, b) => {
    const [left, right] = [column.value(a), column.value(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return sign * (typeof left === 'string' ? compare(left, String(right)) : left - Number(right));
  });
}

/** By a GET request, so that the URL can be bookmarked. */
function stationFilterForm(
  { filter = '', state, upstream = '', sort = '' }: StationQuery,
  columns: readonly StationColumn[],
  stations: readonly StationStatus[],
): Html {
  const upstreams = new Set(stations.map((station) => station.upstream));
  return html`<form id="controls" class="controls" role="search" aria-label="Stations" method="get" action="#stations">
<label for="filter">Filter <input id="filter" name="filter" type="search" value="${filter}" autocomplete="off" spellcheck="false"></label>
${selectBox(
  'state',
  'State',
  STATE_FILTERS.map((name) => [name, name.replace('-', ' ')] as const),
  state,
)}
${upstreams.size < 2 && upstream === '' ? [] : selectBox('upstream', 'Upstream', [...upstreams], upstream)}
${sortSelect(columns, sort, 'configuration')}
<button type="submit">Show</button>
</form>`;
}

/** Totals over the stations whose numbers are known. */
export function statusTotals(stations: readonly StationStatus[]): Html {
  const count = (state: (typeof STATE_FILTERS)[number]) =>
    linkedCount(stations.filter((station) => isIn(station, state)).length, `?state=${state}#stations`);
  const snapshots = stations.flatMap(({ snapshot }) => snapshot ?? []);
  const known = snapshots.flatMap((snapshot) => knownCounts(snapshot) ?? []);
  return figures('totals', [
    ['Stations', numberText(stations.length)],
    ['Up', count('up')],
    ['Failing', count('failing')],
    ['Not tried', count('not-tried')],
    ['No data', count('no-data')],
    ['Incomplete', snapshots.length === 0 ? NO_DATA_CELL : count('incomplete')],
    ['Resources', linkedCount(sumOf(known, 'resources'), undefined)],
    ['Firing', linkedCount(sumOf(known, 'firing'), `.${ROUTES.search}?alert_state=firing`)],
    ['Pending', linkedCount(sumOf(known, 'pending'), `.${ROUTES.search}?alert_state=pending`)],
    ...unknownFigure(sumOf(snapshots, 'unknown'), `.${ROUTES.search}?alert_state=unknown`),
    ['Coverage', coverageText(sumOfCoverages(snapshots))],
  ]);
}

/** undefined without any row: the sum is unknown then. */
function sumOf<Key extends string>(rows: readonly Readonly<Record<Key, number>>[], key: Key): number | undefined {
  return rows.length === 0 ? undefined : rows.reduce((sum, row) => sum + row[key], 0);
}

/** undefined without any coverage. */
function sumOfCoverages(coverages: readonly Coverage[]): Coverage | undefined {
  if (coverages.length === 0) return undefined;
  return coverages.reduce((total, coverage) => ({
    alertRules: sumIfKnown(total.alertRules, coverage.alertRules),
    withRules: total.withRules + coverage.withRules,
    withoutRules: total.withoutRules + coverage.withoutRules,
    unknownCoverage: total.unknownCoverage + coverage.unknownCoverage,
  }));
}

/** A table per label of `resource_labels`, below a note; empty without any. */
function ownerSection(counts: readonly OwnerCount[], note: Html | readonly Html[]): readonly Html[] {
  return [...new Set(counts.map(({ label }) => label))].map((label) => {
    const rows = counts.filter((count) => count.label === label);
    const columns = columnsOf(
      label,
      rows.some(({ unknown }) => unknown > 0),
    );
    return html`<h2 id="by-${label}">Resources by ${label}</h2>
${note}
${table(
  { id: `owners-${label}`, columns, caption: `Resources by ${label}` },
  rows.map((row) => tableRow(columns, row, rowId(`${label} ${row.value}`))),
)}
`;
  });
}

/** `hasUnknown`: an owner has resources in states of unknown meaning. */
function columnsOf(label: string, hasUnknown: boolean): readonly PageColumn<OwnerCount>[] {
  const unknownColumn: PageColumn<OwnerCount> = {
    heading: 'Unknown state',
    isNumber: true,
    cell: (count) => linkedCount(count.unknown, searchHref(count, { alert_state: 'unknown' })),
  };
  return [
    { heading: label, cell: (count) => html`<a href="${searchHref(count)}">${count.value || NONE}</a>` },
    { heading: 'Resources', isNumber: true, cell: (count) => linkedCount(count.resources, searchHref(count)) },
    {
      heading: 'Firing',
      isNumber: true,
      cell: (count) => linkedCount(count.firing, searchHref(count, { alert_state: 'firing' })),
    },
    ...(hasUnknown ? [unknownColumn] : []),
    { heading: 'Coverage', isNumber: true, cell: coverageText },
  ];
}

function searchHref({ label, value }: OwnerCount, further: Selection = {}): string {
  return `.${ROUTES.search}${resourceSearch({ selection: { ...further, [label]: value } })}`;
}
