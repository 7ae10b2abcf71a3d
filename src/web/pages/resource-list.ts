import type { Count, ResourceCounts } from '../../inventory/resource-counts.ts';
import { NONE, type ResourceQuery, resourceSearch } from '../../inventory/resource-query.ts';
import { alertableOf, type SortKey, shortFormTest } from '../../inventory/selection.ts';
import { countText, numberText } from '../../inventory/words.ts';
import type { Resource } from '../../model/resource.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import { OTHER } from '../../refresh/label-values.ts';
import { resourcePath, stationPath } from '../routes.ts';
import { breakable, type Html, html, momentText, unknown } from './html.ts';
import { copyable, rowId } from './live-page.ts';
import { alertStateBadge, typeName } from './resource-parts.ts';

interface Column {
  readonly heading: string;
  readonly by: SortKey;
  readonly isNumber?: boolean;
  readonly cell: (resource: Resource, context: CellContext) => Html;
}

interface CellContext {
  readonly stationName: string;
  readonly typeNames: ReadonlyMap<string, string>;
  readonly nowMs: number;
}

/** A page of resources; each heading sorts by its column, and reverses the order when followed again. */
export function resourceTable(
  resources: readonly Resource[],
  spec: Pick<StationSpec, 'name' | 'products' | 'alertability'>,
  query: ResourceQuery,
  context: Omit<CellContext, 'stationName'>,
): Html {
  const columns = columnsOf(spec);
  return html`<table id="resource-table" class="cards">
<caption class="hidden-text">Resources of ${spec.name}</caption>
<thead>
<tr>${columns.map((column) => heading(column, query))}</tr>
</thead>
<tbody>
${resources.map((resource) => row(resource, columns, { ...context, stationName: spec.name }))}</tbody>
</table>`;
}

/** The first column is the heading of its row. */
export function columnsOf({
  products,
  alertability,
}: Pick<StationSpec, 'products' | 'alertability'>): readonly Column[] {
  return COLUMNS.filter(({ by }) => (by !== 'product' || products.length > 0) && (by !== 'alertable' || alertability));
}

const COLUMNS: readonly Column[] = [
  { heading: 'Resource', by: 'display_name', cell: resourceLink },
  { heading: 'Name', by: 'name', cell: ({ name }) => textOrUnknown(name) },
  {
    heading: 'Type',
    by: 'type',
    cell: ({ type, typeLabel }, { typeNames }) =>
      html`${typeName(type, typeNames)} <span class="sub">${typeLabel}</span>`,
  },
  { heading: 'Product', by: 'product', cell: ({ product }) => textOrUnknown(product) },
  { heading: 'State', by: 'state', cell: ({ state }) => alertStateBadge(state) },
  { heading: 'Alertable', by: 'alertable', cell: (resource) => html`${alertableOf(resource)}` },
  { heading: 'Rules', by: 'alert_rules', isNumber: true, cell: ({ alertRules }) => rulesText(alertRules) },
  { heading: 'SKU', by: 'sku', cell: ({ sku }) => textOrUnknown(sku) },
  { heading: 'GPU', by: 'gpu_model', cell: ({ gpuModel }) => textOrUnknown(gpuModel) },
  { heading: 'Created', by: 'created', cell: ({ createdSeconds }, { nowMs }) => createdText(createdSeconds, nowMs) },
];

function resourceLink({ id, name, displayName }: Resource, { stationName }: CellContext): Html {
  const path = resourcePath(stationName, id);
  const title = displayName || name || id;
  const copied = copyable(html`<span class="code">${id}</span>`, `Copy the ID of ${title}`);
  return html`${path === undefined ? title : html`<a href="../${path}">${title}</a>`} <span class="sub">${copied}</span>`;
}

function heading({ heading, by, isNumber = false }: Column, { selection, order }: ResourceQuery): Html {
  const isSorted = order?.by === by;
  const descending = isSorted && !order.descending;
  const href = `${resourceSearch({ selection, order: { by, descending }, page: 1 })}#resources`;
  const sorted = isSorted ? html` aria-sort="${order.descending ? 'descending' : 'ascending'}"` : [];
  return html`<th scope="col"${numberClass(isNumber)}${sorted}><a href="${href}">${heading}</a></th>`;
}

function row(resource: Resource, [first, ...columns]: readonly Column[], context: CellContext): Html {
  const cells = columns.map(
    ({ heading, isNumber = false, cell }) =>
      html`<td${numberClass(isNumber)} data-label="${heading}"><span>${cell(resource, context)}</span></td>\n`,
  );
  return html`<tr id="${rowId(resource.id)}">
<th scope="row">${first?.cell(resource, context) ?? []}</th>
${cells}</tr>
`;
}

function numberClass(isNumber: boolean): Html {
  return isNumber ? html` class="number"` : html``;
}

function textOrUnknown(text: string): Html {
  return text === '' ? unknown('not reported') : breakable(text);
}

function rulesText(count: number | undefined): Html {
  return count === undefined ? unknown('not reported') : html`${numberText(count)}`;
}

function createdText(seconds: number | undefined, nowMs: number): Html {
  return seconds === undefined ? unknown('not reported') : momentText(seconds * 1000, nowMs);
}

/** The part of a list that a page shows; a page beyond the end is the last one. */
export interface PageRange {
  readonly page: number;
  readonly pages: number;
  /** Index of the first item, and of the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

export function pageRange(total: number, requested: number, pageSize: number): PageRange {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const page = Math.min(requested, pages);
  const from = (page - 1) * pageSize;
  return { page, pages, from, to: Math.min(from + pageSize, total), total };
}

export function resourcePager(label: string, { page, pages, from, to, total }: PageRange, query: ResourceQuery): Html {
  const step = (words: string, target: number) => {
    if (target === page || target < 1 || target > pages) return html`<li><span class="quiet">${words}</span></li>`;
    return html`<li><a href="${resourceSearch({ ...query, page: target })}#resources">${words}</a></li>`;
  };
  const steps = [step('First', 1), step('Previous', page - 1), step('Next', page + 1), step('Last', pages)];
  const shown = html`<span class="amount">${numberText(Math.min(from + 1, total))}–${numberText(to)} of ${numberText(total)}</span>`;
  return html`<nav class="pager" aria-label="${label}">${shown}${pages === 1 ? [] : html`<ul>${steps}</ul>`}</nav>`;
}

/** Links to the resources of the query in its order, on all pages. */
export function downloadLinks(stationName: string, query: ResourceQuery): Html {
  const path = stationPath(stationName);
  if (path === undefined) return html``;
  const parameters = resourceSearch({ ...query, page: 1 }).slice(1);
  const link = (format: 'csv' | 'json') => {
    const href = `../${path}/resources?${parameters === '' ? '' : `${parameters}&`}format=${format}`;
    return html`<a href="${href}">${format.toUpperCase()}</a>`;
  };
  return html`<p id="downloads">Download ${link('csv')} ${link('json')}</p>`;
}

/** The number of present values that are listed. */
const MAX_VALUES = 20;

/** Why no resource is shown, with links to what would be. */
export function emptyResult(size: number, counts: ResourceCounts, query: ResourceQuery): Html {
  if (size === 0) return html`<div id="nothing"><p>The station has no resources.</p></div>`;
  const all = `${resourceSearch({ selection: {}, order: query.order, page: 1 })}#resources`;
  return html`<div id="nothing">
<p>No resource matches.</p>
${presentValues('type', counts.types, query)}${presentValues('product', counts.products, query)}${presentValues('state', counts.states, query)}<p><a href="${all}">Clear the filters: show ${countText(size, 'resource')}</a></p>
</div>`;
}

/** The values that resources have, if none has the given one; empty where the given one may be among those counted together. */
function presentValues(filter: 'type' | 'product' | 'state', counts: readonly Count[], query: ResourceQuery): Html {
  const given = query.selection[filter];
  if (given === undefined) return html``;
  const isShortForm = shortFormTest(given);
  if (counts.some(({ key }) => key === given || key === OTHER || isShortForm(key))) return html``;
  const values = counts.slice(0, MAX_VALUES).map(({ key, name, count }) => {
    const href = `${resourceSearch({ ...query, selection: { ...query.selection, [filter]: key }, page: 1 })}#resources`;
    return html`<li><a href="${href}" title="${key}">${breakable(name)}</a> <span class="quiet">(${numberText(count)})</span></li>\n`;
  });
  const more =
    counts.length > MAX_VALUES ? html`<li class="quiet">${numberText(counts.length - MAX_VALUES)} more</li>\n` : [];
  return html`<p>No resource has the ${filter} <code>${given || NONE}</code>. Present:</p>
<ul class="values">
${values}${more}</ul>
`;
}
