import type { Resource } from '../station/resource.ts';
import { alertableOf, type SortKey } from '../station/selection.ts';
import type { StationSpec } from '../station/spec.ts';
import { breakable } from './breakable.ts';
import { type Html, html } from './html.ts';
import { resourcePath } from './page-paths.ts';
import { type ResourceQuery, resourceSearch } from './resource-query.ts';
import { momentText, numberText, unknown } from './words.ts';

interface Column {
  readonly heading: string;
  readonly by: SortKey;
  readonly isNumber?: boolean;
  readonly cell: (resource: Resource) => Html;
}

/** Some of a station's resources; each heading sorts by its column, once more in the other direction. */
export function resourceTable(resources: readonly Resource[], spec: StationSpec, query: ResourceQuery, nowMs: number): Html {
  const columns = columnsOf(spec, nowMs);
  return html`<table id="resource-table" class="cards rows">
<caption class="hidden-text">Resources of ${spec.name}</caption>
<thead>
<tr>${[heading({ heading: 'Resource', by: 'display_name' }, query), ...columns.map((column) => heading(column, query))]}</tr>
</thead>
<tbody>
${resources.map((resource) => row(resource, spec, columns))}</tbody>
</table>`;
}

function columnsOf({ products, alertability }: StationSpec, nowMs: number): readonly Column[] {
  const product: Column = { heading: 'Product', by: 'product', cell: (resource) => given(resource.product) };
  const alertable: Column = { heading: 'Alertable', by: 'alertable', cell: (resource) => html`${alertableOf(resource)}` };
  return [
    { heading: 'Name', by: 'name', cell: ({ name }) => given(name) },
    { heading: 'Type', by: 'type', cell: ({ type, typeLabel }) => html`${given(type)} <span class="sub">${typeLabel}</span>` },
    ...(products.length === 0 ? [] : [product]),
    { heading: 'State', by: 'state', cell: ({ state }) => given(state) },
    ...(alertability ? [alertable] : []),
    { heading: 'Rules', by: 'alert_rules', isNumber: true, cell: ({ alertRules }) => rules(alertRules) },
    { heading: 'Sku', by: 'sku', cell: ({ sku }) => given(sku) },
    { heading: 'GPU', by: 'gpu_model', cell: ({ gpuModel }) => given(gpuModel) },
    { heading: 'Created', by: 'created', cell: ({ createdSeconds }) => created(createdSeconds, nowMs) },
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

function given(text: string): Html {
  return text === '' ? unknown('not given') : breakable(text);
}

function rules(count: number | undefined): Html {
  return count === undefined ? unknown('not given') : html`${numberText(count)}`;
}

function created(seconds: number | undefined, nowMs: number): Html {
  return seconds === undefined ? unknown('not given') : momentText(seconds * 1000, nowMs);
}
