import { OTHER } from '../../station/label-values.ts';
import type { Resource } from '../../station/resource.ts';
import { ALERTABLE, alertableOf, type SortKey } from '../../station/selection.ts';
import type { StationSpec } from '../../station/station-spec.ts';
import { resourcePath } from '../routes.ts';
import { breakable, type Html, html, momentText, numberText, unknown } from './html.ts';
import type { Count, ResourceCounts } from './resource-counts.ts';
import { NONE, type ResourceQuery, resourceSearch, sortText } from './resource-query.ts';
import { alertStateBadge, shortTypes, typeName } from './resource-words.ts';

interface Column {
  readonly heading: string;
  readonly by: SortKey;
  readonly isNumber?: boolean;
  readonly cell: (resource: Resource) => Html;
}

/** A page of resources; each heading sorts by its column, and reverses the order when followed again. */
export function resourceTable(
  resources: readonly Resource[],
  { types }: Pick<ResourceCounts, 'types'>,
  spec: StationSpec,
  query: ResourceQuery,
  nowMs: number,
): Html {
  const names = shortTypes([...types, ...resources].map((typed) => ('key' in typed ? typed.key : typed.type)));
  const columns = columnsOf(spec, names, nowMs);
  return html`<table id="resource-table" class="cards rows">
<caption class="hidden-text">Resources of ${spec.name}</caption>
<thead>
<tr>${[heading({ heading: 'Resource', by: 'display_name' }, query), ...columns.map((column) => heading(column, query))]}</tr>
</thead>
<tbody>
${resources.map((resource) => row(resource, spec, columns))}</tbody>
</table>`;
}

function columnsOf({ products, alertability }: StationSpec, names: ReadonlyMap<string, string>, nowMs: number): readonly Column[] {
  const product: Column = { heading: 'Product', by: 'product', cell: (resource) => textOrUnknown(resource.product) };
  const alertable: Column = { heading: 'Alertable', by: 'alertable', cell: (resource) => html`${alertableOf(resource)}` };
  return [
    { heading: 'Name', by: 'name', cell: ({ name }) => textOrUnknown(name) },
    { heading: 'Type', by: 'type', cell: ({ type, typeLabel }) => html`${typeName(type, names)} <span class="sub">${typeLabel}</span>` },
    ...(products.length === 0 ? [] : [product]),
    { heading: 'State', by: 'state', cell: ({ state }) => alertStateBadge(state) },
    ...(alertability ? [alertable] : []),
    { heading: 'Rules', by: 'alert_rules', isNumber: true, cell: ({ alertRules }) => rulesText(alertRules) },
    { heading: 'SKU', by: 'sku', cell: ({ sku }) => textOrUnknown(sku) },
    { heading: 'GPU', by: 'gpu_model', cell: ({ gpuModel }) => textOrUnknown(gpuModel) },
    { heading: 'Created', by: 'created', cell: ({ createdSeconds }) => createdText(createdSeconds, nowMs) },
  ];
}

function heading({ heading, by, isNumber = false }: Omit<Column, 'cell'>, { selection, order }: ResourceQuery): Html {
  const isSorted = order?.by === by;
  const descending = isSorted && !order.descending;
  const href = `${resourceSearch({ selection, order: { by, descending }, page: 1 })}#resources`;
  const sorted = isSorted ? html` aria-sort="${order.descending ? 'descending' : 'ascending'}"` : [];
  return html`<th scope="col"${numberClass(isNumber)}${sorted}><a href="${href}">${heading}</a></th>`;
}

function row(resource: Resource, { name }: StationSpec, columns: readonly Column[]): Html {
  const path = resourcePath(name, resource.id);
  const title = resource.displayName || resource.name || resource.id;
  const cells = columns.map(
    ({ heading, isNumber = false, cell }) =>
      html`<td${numberClass(isNumber)} data-label="${heading}"><span>${cell(resource)}</span></td>\n`,
  );
  return html`<tr>
<th scope="row">${path === undefined ? title : html`<a href="../${path}">${title}</a>`} <span class="sub code">${resource.id}</span></th>
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

/** Filters by a GET request, so that the URL can be bookmarked; the order is kept. */
export function filterForm(
  { products, alertability }: Pick<StationSpec, 'products' | 'alertability'>,
  counts: ResourceCounts,
  { selection, order }: ResourceQuery,
): Html {
  const alertable = ALERTABLE.map(
    (word) => html`<option value="${word}"${attributeIf(selection.alertable === word, 'selected')}>${word}</option>`,
  );
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources" method="get" action="#resources">
<label for="search">Search in ID, name and display name <input id="search" name="search" type="search" value="${selection.search ?? ''}" autocomplete="off" spellcheck="false"></label>
${choice('type', 'Type', counts.types, selection.type)}
${products.length === 0 ? [] : choice('product', 'Product', counts.products, selection.product)}
${choice('state', 'State', counts.states, selection.state)}
${alertability ? html`<label for="alertable">Alertable <select id="alertable" name="alertable"><option value="">any</option>${alertable}</select></label>` : []}
<label class="check" for="without-rules"><input id="without-rules" name="without_rules" type="checkbox" value="yes"${attributeIf(selection.withoutRules === true, 'checked')}> Without alert rules</label>
${order === undefined ? [] : html`<input type="hidden" name="sort" value="${sortText(order)}">`}
<button type="submit">Show</button>
<p><a id="reset" href="?#resources">Show all</a></p>
</form>`;
}

/** A selected value that no resource has any more remains an option, so that the form matches the query. */
function choice(name: 'type' | 'product' | 'state', label: string, counts: readonly Count[], chosen: string | undefined): Html {
  const missing = chosen === undefined || counts.some(({ key }) => key === chosen) ? [] : [{ key: chosen, count: 0 }];
  const options = [...counts.filter(({ key }) => key !== OTHER), ...missing].map(({ key, count }) => {
    const text = key === '' ? NONE : key;
    return html`<option value="${text}"${attributeIf(key === chosen, 'selected')}>${text} (${numberText(count)})</option>`;
  });
  return html`<label for="${name}">${label} <select id="${name}" name="${name}"><option value="">any</option>${options}</select></label>`;
}

function attributeIf(condition: boolean, attribute: 'selected' | 'checked'): Html {
  return condition ? html` ${attribute}` : html``;
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
