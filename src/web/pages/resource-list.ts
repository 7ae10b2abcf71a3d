import { NONE, type ResourceQuery, resourceSearch } from '../../query/parameters.ts';
import type { StationResource } from '../../query/selection.ts';
import { ALERT_STATES } from '../../resources/alert-state.ts';
import { ALERTABLE, type Resource, resourceLabel } from '../../resources/fields.ts';
import { OTHER_VALUE } from '../../resources/label-values.ts';
import { knowsAlertable, type ResourceSpec } from '../../resources/spec.ts';
import { NO_STATE, shortTypes, stateWord } from '../../status/resource-words.ts';
import type { OrderedRows } from '../../tasks/ordered-rows.ts';
import { countText, numberText } from '../../text/words.ts';
import { resourcePath } from '../routes.ts';
import { breakable, type Html, html, momentText, rowId, unknown } from './html.ts';
import type { Count, ResourceCounts } from './resource-counts.ts';
import { stationLink } from './station-parts.ts';
import {
  type PageColumn,
  pager,
  type ShownRange,
  searchField,
  selectBox,
  shownColumns,
  shownRange,
  sortSelect,
  table,
  tableRow,
  withoutRulesBox,
} from './table.ts';

/** The resources of a list that are shown. */
export interface ShownResources {
  readonly rows: readonly StationResource[];
  readonly range: ShownRange;
}

export async function shownResources(
  found: OrderedRows<StationResource>,
  { page }: ResourceQuery,
): Promise<ShownResources> {
  const range = shownRange(found.total, page);
  return { rows: await found.rows(range.from, range.to), range };
}

interface ResourceTableOptions {
  readonly query: ResourceQuery;
  readonly columns: readonly PageColumn<StationResource>[];
  /** The address of the list with another query. */
  readonly href: (query: ResourceQuery) => string;
}

/** The resources between two pagers; `downloads` stands beside the first. */
export function resourcePageTable(
  caption: string,
  { rows, range }: ShownResources,
  { query, columns, href }: ResourceTableOptions,
  downloads: Html | readonly Html[],
): Html {
  const pages = (label: string) => pager(label, range, (target) => href({ ...query, page: target }));
  const shown = shownColumns(columns, rows);
  const sorting = {
    sort: query.sort,
    link: (sort: string) => html`href="${href({ ...query, sort, page: 1 })}"`,
  };
  return html`<div class="results">
${pages('Pages of resources')}
${downloads}
</div>
${table(
  { id: 'resource-table', caption, columns: shown, sorting },
  rows.map((row) => tableRow(shown, row, rowId(`${row.station} ${row.resource.id}`))),
)}
${pages('Pages of resources, below the table')}`;
}

interface ColumnContext {
  /** Relative path from the page to the root. */
  readonly root: string;
  /** The types of the resources: each gets a short name. */
  readonly types: readonly string[];
  readonly nowMs: number;
  /** Names of `resource_labels` (default: those of the station). */
  readonly labels?: readonly string[];
}

/** `spec`: of the station whose resources are shown; undefined: those of all stations are. */
export function resourcePageColumns(
  spec: ResourceSpec | undefined,
  { root, types, nowMs, labels = spec?.resourceLabels.names ?? [] }: ColumnContext,
): readonly PageColumn<StationResource>[] {
  const typeNames = shortTypes(types);
  const columns: readonly (PageColumn<StationResource> & { readonly isShown?: boolean })[] = [
    { heading: 'Resource', by: 'display_name', cell: (row) => resourceCell(row, root) },
    { heading: 'Station', by: 'station', isShown: !spec, cell: ({ station }) => stationLink(station, root) },
    {
      heading: 'Type',
      by: 'resource_type',
      cell: ({ resource: { type, typeLabel } }) =>
        html`<span title="${type}">${textOrUnknown(typeNames.get(type) ?? type)}</span> <span class="sub">${breakable(typeLabel)}</span>`,
    },
    { ...textColumn('Product', 'product'), by: 'product', isShown: spec?.products.length !== 0 },
    ...labels.map((name) => ({
      heading: labelHeading(name),
      isEmpty: ({ resource }: StationResource) => resourceLabel(resource, name) === '',
      cell: ({ resource }: StationResource) => {
        const value = resourceLabel(resource, name);
        return value === '' ? unknown('none') : breakable(value);
      },
    })),
    { heading: 'State', by: 'state', cell: ({ resource }) => alertStateBadge(resource) },
    { heading: 'Rules', by: 'alert_rules', isNumber: true, cell: ({ resource }) => rulesCell(resource) },
    { ...textColumn('SKU', 'sku'), by: 'sku' },
    { ...textColumn('GPU', 'gpuModel'), by: 'gpu_model' },
    {
      heading: 'Created',
      isDetail: true,
      by: 'created',
      isEmpty: ({ resource }) => resource.createdSeconds === undefined,
      cell: ({ resource: { createdSeconds } }) =>
        createdSeconds === undefined ? NOT_REPORTED : momentText(createdSeconds * 1000, nowMs),
    },
  ];
  return columns.filter(({ isShown = true }) => isShown);
}

function textColumn(heading: string, property: 'product' | 'sku' | 'gpuModel') {
  return {
    heading,
    isDetail: true,
    isEmpty: ({ resource }: StationResource) => resource[property] === '',
    cell: ({ resource }: StationResource) => textOrUnknown(resource[property]),
  };
}

function rulesCell({ alertRules, alertable }: Resource): Html {
  const count = alertRules === undefined ? NOT_REPORTED : html`${numberText(alertRules)}`;
  return alertable === false ? html`${count} <span class="sub">exempt</span>` : count;
}

/** Written like the headings of other columns. */
export function labelHeading(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const NOT_REPORTED = unknown('not reported');

export function titleOf({ displayName, name, id }: Resource): string {
  return displayName || name || id;
}

/** The resource by its title, and its name and id below. */
function resourceCell({ station, resource }: StationResource, root: string): Html {
  const { id, name } = resource;
  const path = resourcePath(station, id);
  const title = titleOf(resource);
  const named = name === '' || name === title ? [] : html`<span class="name">${name}</span> `;
  const link = path === undefined ? breakable(title) : html`<a href="${root}${path}">${breakable(title)}</a>`;
  return html`${link} <span class="sub ids" title="${id}">${named}<span class="code">${id}</span></span>`;
}

export function textOrUnknown(text: string): Html {
  return text === '' ? NOT_REPORTED : breakable(text);
}

/** A state in words, in the look of its meaning, with its token as a tooltip. Where the words are not the meaning, screen readers hear it too. */
export function alertStateBadge({ state, alertState }: Pick<Resource, 'state' | 'alertState'>): Html {
  if (state === '') return unknown(NO_STATE);
  const words = stateWord(state);
  const meaning = words.toLowerCase() === alertState ? [] : html`<span class="hidden-text"> (${alertState})</span>`;
  return html`<span class="badge ${alertState}" title="${state}">${breakable(words)}${meaning}</span>`;
}

/** Beside the resources that are known not to be covered: how many more there may be; empty without any. */
export function unknownCoverageNote(resources: number): Html {
  if (resources === 0) return html``;
  return html`\n<p class="failure-note unclear" id="unknown-coverage">Alert coverage is unknown for ${countText(resources, 'resource')}, not shown here.</p>`;
}

/** The address of the resources on the page of their station. */
export function resourcesHref(query: Partial<ResourceQuery>): string {
  return `${resourceSearch(query)}#resources`;
}

/** Filters by a GET request, so that the URL can be bookmarked. */
export function resourceFilterForm(
  spec: ResourceSpec,
  counts: ResourceCounts,
  { selection, sort }: ResourceQuery,
  columns: readonly PageColumn<StationResource>[],
): Html {
  const isFiltered = Object.keys(selection).length > 0;
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources" method="get" action="#resources">
${searchField(selection.search)}
${selectBox('alert_state', 'Alert state', ALERT_STATES, selection.alert_state)}
${selection.state === undefined ? [] : selectBox('state', 'State', [], selection.state || NONE)}
${valueSelect('type', 'Type', counts.types, selection.type)}
${spec.products.length === 0 ? [] : valueSelect('product', 'Product', counts.products, selection.product)}
${Array.from(counts.labels, ([name, values]) => valueSelect(name, labelHeading(name), values, selection[name]))}
${knowsAlertable(spec) ? selectBox('alertable', 'Alertable', ALERTABLE, selection.alertable) : []}
${withoutRulesBox(selection.without_rules)}
${sortSelect(columns, sort, 'listing')}
<button type="submit">Filter</button>
${isFiltered ? html`<p><a id="reset" href="${resourcesHref({ sort })}">Clear filters</a></p>` : []}
</form>`;
}

/** A value that no resource has any more, or a short form of one, is an option while it is given. */
function valueSelect(name: string, label: string, counts: readonly Count[], given: string | undefined): Html {
  const known = counts.filter(({ key }) => key !== OTHER_VALUE);
  const options = known.map(({ key, name: value, label: words, count }) => {
    return [key || NONE, `${value}${words === '' ? '' : ` · ${words}`} (${numberText(count)})`] as const;
  });
  return selectBox(name, label, options, given === '' ? NONE : given);
}
