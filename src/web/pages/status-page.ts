import { currentProblems } from '../../problems/problems.ts';
import { LONG_OVERDUE_MS } from '../../problems/station-problems.ts';
import { NONE, oneOf, PAGE, parseParameters, queryText, resourceSearch, TEXT } from '../../query/parameters.ts';
import type { Selection } from '../../query/selection.ts';
import type { OwnerCount } from '../../status/owners.ts';
import { exceededLimit, type ScrapeSize, scrapeSizeText } from '../../status/scrape-size.ts';
import {
  failureTone,
  isCritical,
  knownCounts,
  STATION_STATES,
  type StationStatus,
  stateOf,
} from '../../status/station-status.ts';
import { leastCoverage, sumOfTotals } from '../../status/totals.ts';
import { countText, numberText } from '../../text/words.ts';
import { labelNames, requireValid } from '../data.ts';
import { ROUTES, searchParams, stationPath } from '../routes.ts';
import { attentionSection, headline } from './attention.ts';
import {
  breakable,
  type DescribedValue,
  descriptionList,
  type Html,
  html,
  itemList,
  roughDuration,
  rowId,
} from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { labelHeading } from './resource-list.ts';
import {
  completeness,
  countTiles,
  coverageText,
  lastSuccess,
  linkedCount,
  recentChanges,
  stateBadge,
  stateNote,
  stationLink,
} from './station-parts.ts';
import { downloads, type PageColumn, pager, selectBox, shownRange, sortSelect, table, tableRow } from './table.ts';

/** An overview of all stations, with the table narrowed and sorted by the query. */
export const statusPage: PageHandler = (exporter, options) => async (request, response) => {
  const { values, problem } = parseParameters(searchParams(request), STATUS_PARAMETERS);
  requireValid(problem);
  const nowMs = options.now();
  const stations = exporter.stations();
  const found = currentProblems({
    stations,
    upstreams: exporter.upstreams(),
    rejectedReload: exporter.rejectedReload(),
    rejectedWebReload: exporter.rejectedWebReload(),
    removedStations: exporter.removedStations(),
    nowMs,
  });
  const removalsOf = (station: string) => exporter.changes(station).removals;
  const attention = { root: './', nowMs, removalsOf, ownerLabel: labelNames(exporter)[0] };
  const { text, tone } = headline(stations, found, { isSharded: exporter.isSharded, nowMs });
  const content = html`<div class="headline">
<p id="summary" class="summary ${tone}">${text}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${attentionSection(found, attention)}
${statusTiles(stations, nowMs)}
${notCounted(stations)}
${scrapeNote(exporter.scrapeSize())}
${stationTable(stations, values, nowMs)}
<div id="owners">${ownerSection(await exporter.owners(), values)}</div>`;
  sendPage(response, { root: './', content, isLive: true, route: ROUTES.status }, options);
};

/** Which stations the numbers lack, or have with former labels; empty if none. */
function notCounted(stations: readonly StationStatus[]): readonly Html[] {
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  const former = stations.filter(({ isBeforeReload }) => isBeforeReload).length;
  const notes = [
    withoutData > 0 ? `The numbers of resources exclude ${countText(withoutData, 'station')} without data.` : '',
    former > 0 ? `Labels and products of ${countText(former, 'station')} are those before the reload.` : '',
  ];
  return notes.filter(Boolean).map((note) => html`<p class="quiet">${note}</p>`);
}

/** Not a problem of its own: whether the scraper has such a limit is unknown here. */
function scrapeNote(size: ScrapeSize | undefined): readonly Html[] {
  if (size === undefined) return [];
  const { what, advice } = exceededLimit(size) ?? {
    what: `Last scrape of all stations: ${scrapeSizeText(size)}.`,
    advice: '',
  };
  return [html`<p class="quiet">${what} ${advice}</p>`];
}

/** What a total counts, and the table can be filtered by: the states, and those stations that are up with incomplete data. */
const STATE_FILTERS = ['up', 'failing', 'no-data', 'not-tried', 'incomplete'] as const;

function isIn(station: StationStatus, filter: string): boolean {
  const state = stateOf(station);
  return filter === 'incomplete' ? state === 'up' && completeness(station) !== '' : state === filter;
}

const STATUS_PARAMETERS = {
  filter: TEXT,
  state: oneOf(STATE_FILTERS),
  upstream: TEXT,
  /** The key of a column, after a minus sign in descending order. */
  sort: TEXT,
  /** The key of a column of the tables of owners, after a minus sign in descending order. */
  owners: TEXT,
  page: PAGE,
};

/** Which stations the table shows, and in which order; by default all, in the order of the configuration. */
type StationQuery = Readonly<Partial<Record<keyof typeof STATUS_PARAMETERS, string>>>;

interface SortableColumn<Row> extends PageColumn<Row> {
  /** What the table is sorted by; undefined is unknown. */
  readonly value: (row: Row) => string | number | undefined;
}

type StationColumn = SortableColumn<StationStatus>;

/** `hasUnknown`: a station has resources in states of unknown meaning. */
function statusColumns(nowMs: number, hasUnknown: boolean): readonly StationColumn[] {
  return [
    {
      heading: 'Station',
      by: 'station',
      value: ({ name }) => name,
      cell: ({ name, upstream, telemetryStation }) =>
        html`${stationLink(name)} <span class="sub">${breakable(upstream)} · ${breakable(telemetryStation)}</span>`,
    },
    {
      heading: 'State',
      by: 'state',
      value: (station) => Object.keys(STATION_STATES).indexOf(stateOf(station)),
      cell: (station) => stateCell(station, nowMs),
    },
    {
      ...countColumn('Resources', 'resources', ''),
      cell: (station) => html`${countCell(station, 'resources', '')}${changesCell(station, nowMs)}`,
    },
    countColumn('Firing', 'firing', '?alert_state=firing'),
    { ...countColumn('Pending', 'pending', '?alert_state=pending'), isDetail: true },
    ...(hasUnknown ? [countColumn('Unknown state', 'unknown', '?alert_state=unknown')] : []),
    {
      heading: 'Coverage',
      by: 'coverage',
      isNumber: true,
      value: ({ snapshot }) => snapshot && leastCoverage(snapshot),
      cell: ({ name, snapshot }) => coverageText(snapshot, stationHref(name, '?without_rules=yes')),
    },
    {
      heading: 'Last success',
      by: 'last_success',
      isDetail: true,
      value: ({ lastSuccessMs }) => lastSuccessMs,
      cell: (station) => lastSuccess(station, nowMs),
    },
  ];
}

type CountKey = 'resources' | 'firing' | 'pending' | 'unknown';

/** A number of resources, with a link to them on the page of the station. */
function countColumn(heading: string, by: CountKey, query: string): StationColumn {
  return {
    heading,
    by,
    isNumber: true,
    value: ({ snapshot }) => knownCounts(snapshot)?.[by],
    cell: (station) => countCell(station, by, query),
  };
}

function countCell({ name, snapshot }: StationStatus, by: CountKey, query: string): Html {
  return linkedCount(knownCounts(snapshot)?.[by], stationHref(name, query));
}

/** The resources that a query selects, on the page of their station. */
function stationHref(name: string, query: string): string {
  return `./${stationPath(name)}${query}#resources`;
}

function changesCell(station: StationStatus, nowMs: number): Html {
  const text = recentChanges([station], nowMs, './', station.name);
  return text === undefined ? html`` : html` <span class="sub">${text}</span>`;
}

/** The state with what is wrong in a few words: the list above the table has the rest. */
function stateCell(station: StationStatus, nowMs: number): Html {
  const note = stateNote(station);
  const words = note === '' ? [] : html`<span class="hidden-text">:</span> <span class="sub">${note}</span>`;
  return html`${stateBadge(station, nowMs)}${words}`;
}

/** A page of the stations that the query selects, in its order. */
function stationTable(stations: readonly StationStatus[], query: StationQuery, nowMs: number): Html {
  const { sort = '', page = '1', ...others } = query;
  const hasUnknown = stations.some(({ snapshot }) => snapshot?.unknown);
  const columns = statusColumns(nowMs, hasUnknown);
  const matching = stations.filter((station) => isMatch(station, query));
  const range = shownRange(matching.length, Number(page));
  const shown = sortedRows(matching, columns, sort).slice(range.from, range.to);
  const href = (values: StationQuery) => `${queryText({ ...others, ...values })}#stations`;
  const pages = (label: string) => pager(label, range, (target) => href({ sort, page: String(target) }));
  const rows = shown.map((station) => tableRow(columns, station, rowId(station.name)));
  const noMatch = html`<p id="no-match">No station matches. <a href="?">Clear the filter</a></p>`;
  return html`<h2>Stations</h2>
${stationFilterForm(query, columns, stations)}
<div class="results">
${pages('Pages of stations')}
${downloads('')}
</div>
${table({ id: 'stations', columns, caption: 'Stations', sorting: { sort, link: (by) => html`href="${href({ sort: by })}"` } }, rows)}
${range.pages === 1 ? [] : pages('Pages of stations, below the table')}
${rows.length === 0 && stations.length > 0 ? noMatch : COVERAGE_NOTE}`;
}

const COVERAGE_NOTE = html`<p class="quiet note">Coverage is the share of resources that are covered by at least one alert rule. Exempt ones do not count: those that <code>resource_labels</code> exempts or, with <code>alertability</code>, that cannot have alerts. With unknown ones, which are counted beside it, it is a range.</p>`;

function isMatch(station: StationStatus, { filter = '', state, upstream = station.upstream }: StationQuery): boolean {
  const { name, telemetryStation } = station;
  const texts = [name, station.upstream, telemetryStation, STATION_STATES[stateOf(station)], stateNote(station)];
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
function sortedRows<Row>(rows: readonly Row[], columns: readonly SortableColumn<Row>[], sort: string): readonly Row[] {
  const column = columns.find(({ by }) => by === sort.replace(/^-/, ''));
  if (column === undefined) return rows;
  const sign = sort.startsWith('-') ? -1 : 1;
  const { compare } = new Intl.Collator('en', { numeric: true });
  return rows.toSorted((a, b) => {
    const [left, right] = [column.value(a), column.value(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return sign * (typeof left === 'string' ? compare(left, String(right)) : left - Number(right));
  });
}

/** The form sends a GET request, so that the URL can be bookmarked. */
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
  STATE_FILTERS.map((name) => [name, FILTER_WORDS[name]] as const),
  state,
)}
${upstreams.size < 2 && upstream === '' ? [] : selectBox('upstream', 'Upstream', [...upstreams], upstream)}
${sortSelect(columns, sort, 'configuration')}
<button type="submit">Filter</button>
</form>`;
}

/** Totals over the stations whose numbers are known, with what they are to be compared with. */
export function statusTiles(stations: readonly StationStatus[], nowMs: number): Html {
  const count = (filter: string) => stations.filter((station) => isIn(station, filter)).length;
  const others = STATE_FILTERS.filter((filter) => filter !== 'up' && count(filter) > 0);
  const notes = others.map(
    (filter) => html`<a href="?state=${filter}#stations">${numberText(count(filter))} ${FILTER_WORDS[filter]}</a>`,
  );
  const snapshots = stations.flatMap(({ snapshot }) => snapshot ?? []);
  const known = snapshots.flatMap((snapshot) => knownCounts(snapshot) ?? []);
  const sums = known.length === 0 ? undefined : sumOfTotals(known);
  const noteOf = (key: 'firing' | 'pending' | 'coverage') => {
    if (key === 'coverage') {
      const words = sums?.overdue ? `${numberText(sums.overdue)} overdue` : 'by owner and type';
      return html`<a href=".${ROUTES.coverage}">${words}</a>`;
    }
    const some = known.filter((counts) => counts[key] > 0).length;
    return some === 0 ? undefined : `in ${countText(some, 'station')}`;
  };
  return descriptionList('tiles', 'totals', [
    {
      term: 'Stations up',
      value: html`${linkedCount(count('up'), '?state=up#stations')} <small>of ${numberText(stations.length)}</small>`,
      note: itemList(notes, notes.length),
      share: stations.length === 0 ? 0 : count('up') / stations.length,
    },
    {
      term: 'Resources',
      value: linkedCount(sums?.resources, '?sort=-resources#stations'),
      note: recentChanges(stations, nowMs, './'),
    },
    ...countTiles(sums, (query) => `.${ROUTES.search}${query}`, noteOf),
    ...oldestTile(stations, nowMs),
  ]);
}

/** Each station is counted once: those with incomplete data are among those that are up. */
const FILTER_WORDS = {
  ...STATION_STATES,
  incomplete: 'up but incomplete',
} as const;

/**
 * The data that was refreshed the longest ago, also if it has expired since; none before the first success. It is not late before its next
 * refresh is long overdue: with a long ttl, all data is old.
 */
function oldestTile(stations: readonly StationStatus[], nowMs: number): readonly DescribedValue[] {
  const refreshed = stations.filter(({ lastSuccessMs }) => lastSuccessMs !== undefined);
  const [oldest] = refreshed.toSorted((a, b) => Number(a.lastSuccessMs) - Number(b.lastSuccessMs));
  if (oldest === undefined) return [];
  const { name, up, snapshot, lastSuccessMs, dueInMs } = oldest;
  const isLate = up === false || (-dueInMs >= LONG_OVERDUE_MS && isCritical(oldest, nowMs));
  return [
    {
      term: 'Oldest data',
      value: roughDuration(nowMs - Number(lastSuccessMs)),
      tone: isLate ? failureTone([oldest], nowMs) : '',
      note: html`${stationLink(name)}${snapshot === undefined ? ', has expired' : ''}`,
    },
  ];
}

/** A table per label of `resource_labels`; empty without any. */
function ownerSection(counts: readonly OwnerCount[], query: StationQuery): readonly Html[] {
  const { owners: sort = '' } = query;
  return [...new Set(counts.map(({ label }) => label))].map((label) => {
    const rows = counts.filter((count) => count.label === label);
    const columns = ownerColumns(
      label,
      rows.some(({ unknown }) => unknown > 0),
    );
    const link = (by: string) => html`href="${queryText({ ...query, owners: by })}#by-${label}"`;
    const caption = `Resources by ${label}`;
    return html`<h2 id="by-${label}">${caption}</h2>
${table(
  { id: `owners-${label}`, columns, caption, sorting: { sort, link } },
  sortedRows(rows, columns, sort).map((row) => tableRow(columns, row, rowId(`${label} ${row.value}`))),
)}
`;
  });
}

/** `hasUnknown`: an owner has resources in states of unknown meaning. */
function ownerColumns(label: string, hasUnknown: boolean): readonly SortableColumn<OwnerCount>[] {
  const countOf = (heading: string, by: 'resources' | 'firing' | 'unknown', further: Selection = {}) => ({
    heading,
    by,
    isNumber: true,
    value: (count: OwnerCount) => count[by],
    cell: (count: OwnerCount) => linkedCount(count[by], searchHref(count, further)),
  });
  return [
    {
      heading: labelHeading(label),
      by: 'owner',
      value: ({ value }) => value,
      cell: (count) => html`<a href="${searchHref(count)}">${count.value || NONE}</a>`,
    },
    countOf('Resources', 'resources'),
    countOf('Firing', 'firing', { alert_state: 'firing' }),
    ...(hasUnknown ? [countOf('Unknown state', 'unknown', { alert_state: 'unknown' })] : []),
    {
      heading: 'Coverage',
      by: 'coverage',
      isNumber: true,
      value: leastCoverage,
      cell: (count) => coverageText(count, searchHref(count, { without_rules: 'yes' })),
    },
  ];
}

function searchHref({ label, value }: OwnerCount, further: Selection = {}): string {
  return `.${ROUTES.search}${resourceSearch({ selection: { ...further, [label]: value } })}`;
}
