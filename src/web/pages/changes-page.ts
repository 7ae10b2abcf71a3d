import { add } from '../../model/sums.ts';
import { NONE, queryText } from '../../query/parameters.ts';
import { StateMeanings } from '../../resources/alert-state.ts';
import type { ObservedChange, StationChange } from '../../resources/changes.ts';
import { CHANGES } from '../../resources/churn.ts';
import { resourceLabel } from '../../resources/fields.ts';
import { CHURN_WAITING, type StationStatus } from '../../status/station-status.ts';
import { countText, numberText } from '../../text/words.ts';
import { changesOf, labelNames } from '../data.ts';
import { changesPath, ROUTES } from '../routes.ts';
import { breakable, dayText, type Html, html, itemList, momentText, sinceText, timeText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { alertStateBadge, labelHeading, resourcePageColumns } from './resource-list.ts';
import { stationLink, trail } from './station-parts.ts';
import {
  downloads,
  type PageColumn,
  pager,
  searchField,
  selectBox,
  shownColumns,
  shownRange,
  table,
  tableRow,
} from './table.ts';

/** Columns of the list of resources that name the resource of a change, besides the labels. */
const NAMING = ['display_name', 'station', 'resource_type'];

/** Which resources of a station, or of all, changed, the latest changes first. */
export const changesPage: PageHandler = (exporter, options) => async (request, response, signal) => {
  const nowMs = options.now();
  const found = await changesOf(exporter, request, nowMs, signal);
  const { name, query, changes } = found;
  const { page = '1', ...selection } = query;
  const root = name === undefined ? './' : '../../';
  const { since, until } = selection;
  const rows = since !== undefined && since === until ? changes.map(unfolded) : folded(changes);
  const range = shownRange(rows.length, Number(page));
  const shown = rows.slice(range.from, range.to);
  const labels = labelNames(exporter);
  const specs = new Map(exporter.specs().map((spec) => [spec.name, spec]));
  const types = shown.map(({ resource }) => resource.type);
  const spec = name === undefined ? undefined : specs.get(name);
  const naming = resourcePageColumns(spec, { root, types, nowMs, labels }).filter(({ heading, by = heading }) =>
    [...NAMING, ...labels.map(labelHeading)].includes(by),
  );
  const pages = (label: string) => pager(label, range, (target) => queryText({ ...selection, page: String(target) }));
  const title = name === undefined ? 'Changes' : `Changes of ${name}`;
  const list = html`<div class="results">
${pages('Pages of changes')}
${downloads('', queryText(selection))}
</div>
${changeTable(title, shown, ({ station }) => specs.get(station)?.states ?? new StateMeanings(), nowMs, { naming, changeCell: (row) => countedChange(row, selection, root) })}
${pages('Pages of changes, below the table')}`;
  const content = html`${name === undefined ? [] : trail(root, 'Changes', name)}
<h1>${title}</h1>
<div class="headline">
<p id="scope">${scopeText(found, nowMs)}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${changesFilterForm(found, [...specs.keys()])}
${changes.length === 0 ? html`<p id="nothing">${nothingText(found, nowMs)}</p>` : list}
<p class="quiet">Changes end with the process. <code>--log.changes</code> logs them; in Loki, this finds them: <code>${logQuery(name)}</code></p>`;
  const route = name === undefined ? { route: ROUTES.changes } : {};
  sendPage(response, { title: title.replace(' of ', ' · '), root, content, isLive: true, ...route }, options);
};

/** A change that stands for so many of its kind, which one refresh found. */
interface CountedChange extends StationChange {
  readonly count: number;
}

function unfolded(change: StationChange): CountedChange {
  return { ...change, count: 1 };
}

/** Changes of one kind and refresh that are more than this are one row: otherwise a station that changes completely fills the page. */
const MAX_UNFOLDED = 10;

function folded(changes: readonly StationChange[]): readonly CountedChange[] {
  const keyed = changes.map((change) => ({ change, key: `${change.atMs} ${change.change} ${change.station}` }));
  const counts = new Map<string, number>();
  for (const { key } of keyed) add(counts, key, 1);
  const shown = new Set<string>();
  return keyed.flatMap(({ change, key }) => {
    const count = counts.get(key) ?? 0;
    if (count <= MAX_UNFOLDED) return unfolded(change);
    if (shown.has(key)) return [];
    shown.add(key);
    return { ...change, count };
  });
}

/** `500 added, such as`, with a link to all of them. */
function countedChange(
  { station, atMs, change, count }: CountedChange,
  { station: _station, ...selection }: Found['query'],
  root: string,
): Html | string {
  if (count === 1) return change;
  const time = new Date(atMs).toISOString();
  const href = `${root}${changesPath(station, { ...selection, change, since: time, until: time })}`;
  return html`<a href="${href}">${numberText(count)} ${change}</a>, such as`;
}

function logQuery(station: string | undefined): string {
  const filter = station === undefined ? '' : ` | station=${JSON.stringify(station)}`;
  return `{app="telemetry-station-exporter"} | logfmt | msg="resource changed"${filter}`;
}

type Found = Awaited<ReturnType<typeof changesOf>>;

function scopeText(
  { name, stations, sinceMs, unbrokenSinceMs, withGap, dropped, droppedRemovals, waiting, failing }: Found,
  nowMs: number,
): Html {
  const names = (some: readonly StationStatus[]) =>
    itemList(
      some.map(({ name: other }) => stationLink(other)),
      MAX_NAMED,
    );
  // What the page of one station says needs no name.
  const of = (some: readonly StationStatus[]) => (name === undefined ? html` (${names(some)})` : html``);
  const kept = stations.reduce((sum, { newestFirst }) => sum + newestFirst.length, 0);
  const notes: Html[] = [];
  if (dropped > 0) {
    const removals = droppedRemovals === 0 ? '' : `, ${numberText(droppedRemovals)} of them removals`;
    notes.push(
      html` ${countText(dropped, 'more was', 'more were')} dropped${removals}: see <code>limits.changes_per_station</code> and <code>limits.changes</code>.`,
    );
  }
  if (sinceMs !== undefined)
    notes.push(html` Listings have been compared ${sinceText(sinceMs, nowMs, 'with length')}.`);
  if (unbrokenSinceMs !== undefined && withGap.length > 0)
    notes.push(
      html` Changes in a gap that ended at ${dayText(unbrokenSinceMs, nowMs)}${timeText(unbrokenSinceMs)} UTC are unknown${of(withGap)}.`,
    );
  if (waiting.length > 0) notes.push(html` At present: ${CHURN_WAITING}${of(waiting)}.`);
  if (failing.length > 0)
    notes.push(html` At present: refreshes fail, so that changes since the last success are unknown${of(failing)}.`);
  return html`Changes are counted between listings that add up. ${countText(kept, 'change is', 'changes are')} kept.${notes}`;
}

const MAX_NAMED = 5;

/** Since when there was no change, as far as is known. */
function nothingText({ stations, unbrokenSinceMs, failing }: Found, nowMs: number): Html {
  if (stations.some(({ newestFirst }) => newestFirst.length > 0)) return html`No change matches.`;
  if (unbrokenSinceMs === undefined) return html`Changes are not known yet: no listing adds up.`;
  const since = sinceText(unbrokenSinceMs, nowMs);
  return failing.length === 0
    ? html`No changes ${since}.`
    : html`No changes found ${since}; those since the last success are unknown.`;
}

const TIMES = [
  ['1h', 'last hour'],
  ['6h', 'last 6 hours'],
  ['24h', 'last 24 hours'],
] as const;

function changesFilterForm({ name, query, labels, stations }: Found, all: readonly string[]) {
  const { search, station, change, since, until } = query;
  const kept = stations.flatMap(({ newestFirst }) => newestFirst);
  const selects = labels.map((label) => {
    const values = new Set(kept.map(({ resource }) => resourceLabel(resource, label) || NONE));
    return html`\n${selectBox(label, labelHeading(label), [...values].sort(), query[label])}`;
  });
  const isFiltered = Object.keys(query).some((parameter) => parameter !== 'page');
  return html`<form id="narrow" class="controls" role="search" aria-label="Changes" method="get">
${searchField(search)}
${name === undefined ? selectBox('station', 'Station', all, station) : []}
${selectBox('since', 'Since', TIMES, since)}
${selectBox('change', 'Change', CHANGES, change)}${selects}
${until === undefined ? [] : html`<input type="hidden" name="until" value="${until}">`}<button type="submit">Filter</button>
${isFiltered ? html`<p>${until === undefined ? '' : `until ${until} `}<a id="reset" href="?">Clear filters</a></p>` : []}
</form>`;
}

interface ChangeTableOptions<Row> {
  /** None if the changes are those of one resource. */
  readonly naming?: readonly PageColumn<Row>[];
  readonly changeCell?: (row: Row) => Html | string;
}

export function changeTable<Row extends ObservedChange>(
  caption: string,
  changes: readonly Row[],
  statesOf: (change: Row) => StateMeanings,
  nowMs: number,
  { naming = [], changeCell = ({ change }) => change }: ChangeTableOptions<Row> = {},
): Html {
  const all: readonly PageColumn<Row>[] = [
    {
      heading: 'Observed',
      cell: ({ atMs }) =>
        html`<span class="together">${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')} UTC</span> <span class="sub together">${momentText(atMs, nowMs, 'rough')}</span>`,
    },
    { heading: 'Change', cell: changeCell },
    ...naming,
    { heading: 'From', cell: (row) => valueText(row.change, row.from, statesOf(row)) },
    { heading: 'To', cell: (row) => valueText(row.change, row.to, statesOf(row)) },
  ];
  const columns = shownColumns(all, changes);
  const rows = changes.map((change) => tableRow(columns, change));
  return table({ id: 'change-table', caption, columns }, rows);
}

function valueText(
  change: ObservedChange['change'],
  value: ObservedChange['from'],
  states: StateMeanings,
): Html | string {
  if (value === undefined) return unknown('none');
  if (typeof value === 'number') return numberText(value);
  return change === 'type'
    ? breakable(value)
    : alertStateBadge({ state: value, alertState: states.alertStateOf(value) });
}
