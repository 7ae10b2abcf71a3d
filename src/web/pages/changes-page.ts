import type { StateMeanings } from '../../resources/alert-state.ts';
import { CHANGE_PARAMETERS, type ObservedChange, type ObservedCount } from '../../resources/changes.ts';
import { CHANGES } from '../../resources/churn.ts';
import { resourceLabel } from '../../resources/fields.ts';
import { NONE } from '../../resources/parameters.ts';
import type { StationResource } from '../../resources/selection.ts';
import type { ResourceSpec } from '../../resources/spec.ts';
import { CHURN_WAITING, type StationDetail, type StationStatus } from '../../status/station-status.ts';
import { countText, numberText } from '../../text/words.ts';
import { changesOf, labelNames } from '../data.ts';
import { changesPath, resourcePath } from '../routes.ts';
import { ownersText } from './attention.ts';
import { breakable, dayText, type Html, html, momentText, sinceText, timeText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { alertStateBadge, labelHeading, resourcePageColumns, titleOf } from './resource-list.ts';
import { trail } from './station-parts.ts';
import {
  downloads,
  listPage,
  type PageColumn,
  pager,
  searchField,
  selectBox,
  shownColumns,
  table,
  tableRow,
} from './table.ts';

const CHANGES_ROOT = '../../';

/** Columns of the list of resources that name the resource of a change, besides the labels. */
const NAMING = ['display_name', 'resource_type'];

/** Which resources of a station changed, the latest changes first. */
export const changesPage: PageHandler = (exporter, options) => (request, response) => {
  const found = changesOf(exporter, request);
  const { spec, query, owners, changes } = found;
  const { name } = spec;
  const { page = '1', ...selection } = query;
  const nowMs = options.now();
  const shown = listPage(changes, Number(page));
  const labels = labelNames(exporter);
  const types = shown.rows.map(({ resource }) => resource.type);
  const naming = resourcePageColumns(undefined, { root: CHANGES_ROOT, types, nowMs, labels }).filter(
    ({ heading, by = heading }) => [...NAMING, ...labels.map(labelHeading)].includes(by),
  );
  const href = (parameters: Readonly<Record<string, string>>) =>
    `?${new URLSearchParams({ ...selection, ...ownerParameters(owners), ...parameters })}`;
  const pages = (label: string) => pager(label, shown, (target) => href({ page: String(target) }));
  const content = html`${trail(CHANGES_ROOT, 'Changes', name)}
<h1>Changes of ${name}</h1>
<div class="headline">
<p id="scope">${scopeText(found)}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${largeChanges(found, nowMs)}
${changesFilterForm(found)}
${
  changes.length === 0
    ? html`<p id="nothing">${nothingText(found, nowMs)}</p>`
    : html`<div class="results">
${pages('Pages of changes')}
${downloads(href({ format: '' }))}
</div>
${changeTable(spec, shown.rows, nowMs, naming)}
${pages('Pages of changes, below the table')}`
}`;
  sendPage(response, { title: `Changes · ${name}`, root: CHANGES_ROOT, content, isLive: true }, options);
};

type Found = ReturnType<typeof changesOf>;

function scopeText({ status, kept, dropped, droppedRemovals }: Found): Html {
  const removals = droppedRemovals === 0 ? '' : `, ${numberText(droppedRemovals)} of them removals`;
  const bound = html` ${countText(dropped, 'more was', 'more were')} dropped${removals}: see <code>limits.changes_per_station</code> and <code>limits.changes</code>.`;
  const waiting = ` At present: ${CHURN_WAITING}.`;
  const failing = ' At present: refreshes fail, so that changes since the last success are unknown.';
  return html`Changes are counted between listings that add up. ${countText(kept.length, 'change is', 'changes are')} kept.${[
    dropped > 0 ? bound : html``,
    status.snapshot?.isHeld ? html`${waiting}` : html``,
    status.up === false ? html`${failing}` : html``,
  ]}`;
}

/** Refreshes with many changes that the page sums up, the latest ones. */
const MAX_SUMS = 5;

/** The exact numbers of refreshes that found many changes of a kind, whatever is kept of these; empty without any. */
function largeChanges({ spec, found }: Found, nowMs: number): Html {
  const large = found.filter(({ total }) => total > MAX_ALIKE).slice(0, MAX_SUMS);
  if (large.length === 0) return html``;
  const rows = large.map(
    (count) =>
      html`<li>${changeTime(count.atMs, nowMs)} <span class="further">${sumText(count, spec, CHANGES_ROOT)}</span></li>\n`,
  );
  return html`<ul class="latest" id="sums">\n${rows}</ul>`;
}

/** `1,250 removed, by team: payments 1,250`, with a link to them. */
function sumText({ atMs, change, total, owners }: ObservedCount, spec: ResourceSpec, root: string): Html {
  const [label] = spec.resourceLabels.names;
  const time = new Date(atMs).toISOString();
  const path = changesPath(spec.name, { change, since: time, until: time });
  const words = `${numberText(total)} ${CHANGED_WORDS[change]}`;
  return html`<a href="${root}${path}">${words}</a>${ownersText(label, owners)}`;
}

function nothingText({ kept, status }: Found, nowMs: number): Html {
  return kept.length > 0 ? html`No change matches.` : noChangesText(status, nowMs);
}

/** Since when there was no change, as far as is known. */
function noChangesText({ comparedSinceMs, up }: StationStatus, nowMs: number): Html {
  if (comparedSinceMs === undefined) return html`Changes are not known yet: no listing adds up.`;
  const since = sinceText(comparedSinceMs, nowMs);
  return up ? html`No changes ${since}.` : html`No changes found ${since}; those since the last success are unknown.`;
}

/** The selected owners as parameters of a URL. */
function ownerParameters(owners: Found['owners']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(owners).map(([name, value]) => [name, value || NONE]));
}

/** Values of a label that can be chosen. */
const MAX_OWNERS = 200;

function changesFilterForm({ spec, query, owners, kept }: Found): Html {
  const { search = '', change, page, ...times } = query;
  const names = spec.resourceLabels.names.filter((name) => !(name in CHANGE_PARAMETERS));
  const selects = names.map((name) => {
    const values = new Set(kept.map(({ resource }) => resourceLabel(resource, name) || NONE));
    return html`\n${selectBox(name, labelHeading(name), [...values].sort().slice(0, MAX_OWNERS), ownerParameters(owners)[name])}`;
  });
  const hidden = Object.entries(times).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const isFiltered = [search, change, ...Object.keys(owners), ...hidden].some(Boolean);
  const between = [times.since && `since ${times.since}`, times.until && `until ${times.until}`].filter(Boolean);
  return html`<form id="narrow" class="controls" role="search" aria-label="Changes" method="get">
${searchField(search)}
${selectBox('change', 'Change', CHANGES, change)}${selects}${hidden}
<button type="submit">Filter</button>
${isFiltered ? html`<p>${between.join(', ')} <a id="reset" href="?">Clear filters</a></p>` : []}
</form>`;
}

/** Rows of the latest changes, and how many of them are of one refresh and kind. */
const MAX_LATEST = 10;
const MAX_ALIKE = 5;

/** The latest changes of a station, on its page, in a part to open; those of one refresh and kind are summed up. */
export function latestChangesSection({
  spec,
  changes,
  status,
  nowMs,
}: Pick<StationDetail, 'spec' | 'changes' | 'status'> & { readonly nowMs: number }): Html {
  const { newestFirst, found } = changes;
  const [latest] = newestFirst;
  if (latest === undefined) return html`<p id="changed">What changed: ${noChangesText(status, nowMs)}</p>`;
  const rows: Html[] = [];
  for (const alike of groupsOfChanges(newestFirst)) {
    if (rows.length >= MAX_LATEST) break;
    rows.push(...alike.slice(0, MAX_ALIKE).map((change) => latestChange(change, spec, nowMs)));
    if (alike.length > MAX_ALIKE) rows.push(allAlike(alike, found, spec, nowMs));
  }
  const count = countText(newestFirst.length, 'change');
  return html`<details id="changed">
<summary>What changed: ${count}, the latest at ${changeTime(latest.atMs, nowMs)}</summary>
<ul class="latest">\n${rows}</ul>
<p><a href="../${changesPath(spec.name)}">All changes</a></p>
</details>`;
}

/** Changes of the same kind that one refresh found. */
function* groupsOfChanges(newestFirst: readonly ObservedChange[]): Iterable<readonly ObservedChange[]> {
  for (let at = 0, end = 0; at < newestFirst.length; at = end) {
    const { atMs, change } = newestFirst[at] as ObservedChange;
    while (newestFirst[end]?.atMs === atMs && newestFirst[end]?.change === change) end += 1;
    yield newestFirst.slice(at, end);
  }
}

function latestChange({ atMs, change, resource, from, to }: ObservedChange, spec: ResourceSpec, nowMs: number): Html {
  const path = resourcePath(spec.name, resource.id);
  const title = titleOf(resource);
  const [label] = spec.resourceLabels.names;
  const owner = label === undefined ? '' : resourceLabel(resource, label);
  const values =
    change === 'added' || change === 'removed'
      ? []
      : html`${valueText(change, from, spec.states)} → ${valueText(change, to, spec.states)}`;
  return html`<li>${changeTime(atMs, nowMs)} <span class="change is-${change}">${change}</span> <span class="resource">${path === undefined ? breakable(title) : html`<a href="../${path}">${breakable(title)}</a>`} ${values}</span> <span class="quiet owner">${owner}</span></li>
`;
}

/** How many there were in all: the refresh may have found more than are kept. */
function allAlike(
  alike: readonly ObservedChange[],
  found: readonly ObservedCount[],
  spec: ResourceSpec,
  nowMs: number,
): Html {
  const [{ atMs, change }] = alike as [ObservedChange];
  const exact = found.find((count) => count.atMs === atMs && count.change === change);
  const count = exact ?? { atMs, change, total: alike.length, owners: [] };
  return html`<li>${changeTime(atMs, nowMs)} <span class="further">In all ${sumText(count, spec, '../')}</span></li>
`;
}

const CHANGED_WORDS = {
  added: 'added',
  removed: 'removed',
  state: 'changed state',
  rules: 'changed rules',
  type: 'changed type',
} as const;

function changeTime(atMs: number, nowMs: number): Html {
  return html`<span class="quiet together">${dayText(atMs, nowMs)}${timeText(atMs)} UTC</span>`;
}

/** `naming`: empty if the changes are those of one resource. */
export function changeTable(
  { name: station, states }: Pick<ResourceSpec, 'name' | 'states'>,
  changes: readonly ObservedChange[],
  nowMs: number,
  naming: readonly PageColumn<StationResource>[] = [],
): Html {
  const all: readonly PageColumn<ObservedChange & StationResource>[] = [
    {
      heading: 'Observed',
      cell: ({ atMs }) =>
        html`<span class="together">${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')} UTC</span> <span class="sub together">${momentText(atMs, nowMs, 'rough')}</span>`,
    },
    { heading: 'Change', cell: ({ change }) => change },
    ...naming,
    { heading: 'From', cell: ({ change, from }) => valueText(change, from, states) },
    { heading: 'To', cell: ({ change, to }) => valueText(change, to, states) },
  ];
  const shown = changes.map((change) => ({ ...change, station }));
  const columns = shownColumns(all, shown);
  const rows = shown.map((change) => tableRow(columns, change));
  return table({ id: 'change-table', caption: `Changes of ${station}`, columns }, rows);
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
