import type { ObservedChange } from '../../inventory/changes.ts';
import type { StationResource } from '../../inventory/selection.ts';
import { CHURN_WAITING } from '../../inventory/station-status.ts';
import { countText, numberText } from '../../inventory/words.ts';
import type { StateMeanings } from '../../model/alert-state.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import { CHANGES } from '../../refresh/churn.ts';
import { changesOf, labelNames } from '../data.ts';
import { breakable, type Html, html, momentText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { alertStateBadge, resourcePageColumns } from './resource-list.ts';
import { trail } from './station-parts.ts';
import { downloads, listPage, type PageColumn, pager, searchField, selectBox, table, tableRow } from './table.ts';

const CHANGES_ROOT = '../../';

/** Columns of the list of resources that name the resource of a change, besides the labels. */
const NAMING = ['display_name', 'name', 'type'];

/** Which resources of a station changed, the latest changes first. */
export const changesPage: PageHandler = (exporter, options) => (request, response) => {
  const found = changesOf(exporter, request);
  const { spec, query, changes } = found;
  const { name } = spec;
  const { page = '1', ...selection } = query;
  const nowMs = options.now();
  const shown = listPage(changes, Number(page));
  const labels = labelNames(exporter);
  const types = shown.rows.map(({ resource }) => resource.type);
  const naming = resourcePageColumns(undefined, { root: CHANGES_ROOT, types, nowMs, labels }).filter(
    ({ heading, by = heading }) => [...NAMING, ...labels].includes(by),
  );
  const href = (parameters: Readonly<Record<string, string>>) =>
    `?${new URLSearchParams({ ...selection, ...parameters })}`;
  const pages = (label: string) => pager(label, shown, (target) => href({ page: String(target) }));
  const content = html`${trail(CHANGES_ROOT, 'Changes', name)}
<h1>Changes of ${name}</h1>
<div class="headline">
<p id="scope">${scopeText(found)}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${changesFilterForm(selection)}
${
  changes.length === 0
    ? html`<p id="nothing">${nothingText(found)}</p>`
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

function scopeText({ kept, dropped, isWaiting, isFailing }: Found): Html {
  const bound = html` ${countText(dropped, 'more was', 'more were')} dropped: see <code>limits.changes_per_station</code> and <code>limits.changes</code>.`;
  const waiting = ` At present: ${CHURN_WAITING}.`;
  const failing = ' At present: refreshes fail, so that changes since the last success are unknown.';
  return html`Changes are counted between listings that are verified complete, or from which only the same rejected records are missing. ${countText(kept, 'change is', 'changes are')} kept.${[
    dropped > 0 ? bound : html``,
    isWaiting ? html`${waiting}` : html``,
    isFailing ? html`${failing}` : html``,
  ]}`;
}

function nothingText({ history, kept }: Found): string {
  if (kept > 0) return 'No change matches.';
  // The first listing is compared with none.
  return history.some(({ added }) => added !== undefined)
    ? 'No changes yet.'
    : 'Nothing has been compared yet: two listings are required that are complete, or rejected the same records.';
}

function changesFilterForm({ search = '', change, ...times }: Found['query']): Html {
  const hidden = Object.entries(times).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const isFiltered = search !== '' || change !== undefined || hidden.length > 0;
  const between = [times.since && `since ${times.since}`, times.until && `until ${times.until}`].filter(Boolean);
  return html`<form id="narrow" class="controls" role="search" aria-label="Changes" method="get">
${searchField(search)}
${selectBox('change', 'Change', CHANGES, change)}${hidden}
<button type="submit">Show</button>
${isFiltered ? html`<p>${between.join(', ')} <a id="reset" href="?">Clear filters</a></p>` : []}
</form>`;
}

/** `naming`: empty if the changes are those of one resource. */
export function changeTable(
  { name: station, states }: Pick<StationSpec, 'name' | 'states'>,
  changes: readonly ObservedChange[],
  nowMs: number,
  naming: readonly PageColumn<StationResource>[] = [],
): Html {
  const columns: readonly PageColumn<ObservedChange & StationResource>[] = [
    {
      heading: 'Observed',
      cell: ({ atMs }) => html`${utcTime(atMs)} <span class="sub">${momentText(atMs, nowMs)}</span>`,
    },
    { heading: 'Change', cell: ({ change }) => change },
    ...naming,
    { heading: 'From', cell: ({ change, from }) => valueText(change, from, states) },
    { heading: 'To', cell: ({ change, to }) => valueText(change, to, states) },
  ];
  const rows = changes.map((change) => tableRow(columns, { ...change, station }));
  return table({ id: 'change-table', caption: `Changes of ${station}`, columns }, rows);
}

/** In UTC. */
function utcTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
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
