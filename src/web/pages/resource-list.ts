import type { Count, ResourceCounts } from '../../inventory/resource-counts.ts';
import { NONE, type ResourceQuery, resourceSearch, sortText } from '../../inventory/resource-query.ts';
import { ALERTABLE, alertableOf, type SortKey, shortFormTest } from '../../inventory/selection.ts';
import { countText, numberText } from '../../inventory/words.ts';
import type { Resource } from '../../model/resource.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import { OTHER } from '../../refresh/label-values.ts';
import { resourcePath, stationPath } from '../routes.ts';
import { breakable, type Html, html, momentText, unknown } from './html.ts';
import { copyable, rowId } from './live-page.ts';
import { MAX_LISTED } from './resource-counts.ts';
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
function columnsOf({ products, alertability }: Pick<StationSpec, 'products' | 'alertability'>): readonly Column[] {
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

type Choices = Pick<StationSpec, 'products' | 'alertability'>;

/** Filters by a GET request, so that the URL can be bookmarked. */
export function filterForm(spec: Choices, counts: ResourceCounts, query: ResourceQuery): Html {
  const { selection, order } = query;
  const alertable = ALERTABLE.map((word) => ({ value: word, text: word }));
  const isFiltered = Object.keys(selection).length > 0;
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources" method="get" action="#resources">
<label for="search">Search in ID, name and display name <input id="search" name="search" type="search" value="${selection.search ?? ''}" autocomplete="off" spellcheck="false"></label>
${valueSelect('state', 'State', counts.states, selection.state)}
${valueSelect('type', 'Type', counts.types, selection.type)}
${spec.products.length === 0 ? [] : valueSelect('product', 'Product', counts.products, selection.product)}
${spec.alertability ? select('alertable', 'Alertable', [ANY, ...alertable], selection.alertable) : []}
<label class="check" for="without-rules"><input id="without-rules" name="without_rules" type="checkbox" value="yes"${selection.withoutRules ? html` checked` : []}> Without alert rules</label>
${sortSelect(spec, query)}
<button type="submit">Show</button>
${isFiltered ? html`<p><a id="reset" href="${resourceSearch({ selection: {}, order, page: 1 })}#resources">Clear filters</a></p>` : []}
</form>`;
}

interface Option {
  readonly value: string;
  readonly text: string;
}

const ANY: Option = { value: '', text: 'any' };

/** Exactly one option has the attribute `selected`, so that a script can compare the choice with it. */
function select(
  name: string,
  label: string,
  options: readonly Option[],
  chosen: string | undefined,
  isNarrow = false,
): Html {
  const given = options.some(({ value }) => value === chosen) ? chosen : '';
  const items = options.map(
    ({ value, text }) => html`<option value="${value}"${value === given ? html` selected` : []}>${text}</option>`,
  );
  return html`<label for="${name}"${isNarrow ? html` class="narrow"` : []}>${label} <select id="${name}" name="${name}">${items}</select></label>`;
}

/** The given value is always an option, so that the form matches the query, even if it is a short form or no resource has it any more. */
function valueSelect(
  name: 'type' | 'product' | 'state',
  label: string,
  counts: readonly Count[],
  given: string | undefined,
): Html {
  const known = counts.filter(({ key }, at) => key !== OTHER && (at < MAX_LISTED || key === given));
  const options = known.map((count) => ({ value: valueText(count.key), text: optionText(count) }));
  const other = given === undefined || known.some(({ key }) => key === given) ? [] : [given];
  const others = other.map((key) => ({ value: valueText(key), text: valueText(key) }));
  return select(name, label, [ANY, ...others, ...options], given === undefined ? '' : valueText(given));
}

function valueText(key: string): string {
  return key === '' ? NONE : key;
}

function optionText({ name, label, count }: Count): string {
  return `${name}${label === '' ? '' : ` · ${label}`} (${numberText(count)})`;
}

/** On a narrow screen it replaces the headings of the table; elsewhere it is hidden and keeps the order. */
function sortSelect(spec: Choices, { order }: ResourceQuery): Html {
  const options = columnsOf(spec).flatMap(({ heading, by }) => [
    { value: by, text: `${heading}, ascending` },
    { value: `-${by}`, text: `${heading}, descending` },
  ]);
  const chosen = order === undefined ? '' : sortText(order);
  const missing =
    options.some(({ value }) => value === chosen) || chosen === '' ? [] : [{ value: chosen, text: chosen }];
  return select('sort', 'Sort by', [{ value: '', text: 'listing' }, ...options, ...missing], chosen, true);
}
