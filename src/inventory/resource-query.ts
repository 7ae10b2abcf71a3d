import { oneOf, PAGE, type Parameters, parseParameters, queryText, TEXT } from './parameters.ts';
import {
  ALERTABLE,
  labelFilter,
  labelOf,
  type Order,
  parseOrder,
  type Selection,
  SORT_KEYS,
  VALUE_FILTERS,
  valueFilters,
} from './selection.ts';

/** The resources that a page shows, from the query of its URL. */
export interface ResourceQuery {
  readonly selection: Selection;
  readonly order: Order | undefined;
  /** Counted from 1. */
  readonly page: number;
}

/** The query value for resources without a value: an HTML form submits '' when no option is selected. */
export const NONE = '(none)';

/** The parameters of the selection, the order and the page. */
export const PARAMETERS: Parameters = {
  search: TEXT,
  ...Object.fromEntries(VALUE_FILTERS.map((name) => [name, TEXT])),
  alertable: oneOf(ALERTABLE),
  without_rules: oneOf(['yes']),
  sort: {
    expected: `one of ${Object.keys(SORT_KEYS).join(', ')}, with a leading - for descending order`,
    isValid: (value) => parseOrder(value) !== undefined,
  },
  order: oneOf(['asc', 'desc']),
  page: PAGE,
};

/** The valid parameters, and the problem of the first that is not. `labels`: names of `resource_labels`, which are parameters too. */
export function parseResourceQuery(
  given: URLSearchParams,
  labels: readonly string[] = [],
): { readonly query: ResourceQuery; readonly problem: string | undefined } {
  const ofLabels = Object.fromEntries(labels.map((name) => [name, TEXT]));
  const { values, problem } = parseParameters(given, { ...PARAMETERS, ...ofLabels });
  const order = parseOrder(values['sort'] ?? '');
  const filters = [...VALUE_FILTERS.map((name) => [name, name]), ...labels.map((name) => [labelFilter(name), name])];
  const selection = {
    search: values['search'],
    ...Object.fromEntries(filters.map(([filter, name = '']) => [filter, values[name] === NONE ? '' : values[name]])),
    alertable: values['alertable'],
    withoutRules: values['without_rules'] && true,
  };
  const query = {
    selection: Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined)) as Selection,
    order: order && { by: order.by, descending: order.descending || values['order'] === 'desc' },
    page: Number(values['page'] ?? 1),
  };
  return { query, problem };
}

/** The query string, with its question mark. `text`: the name of the parameter for the text to search for. */
export function resourceSearch({ selection, order, page }: ResourceQuery, text = 'search'): string {
  return queryText({
    [text]: selection.search,
    ...Object.fromEntries(valueFilters(selection).map((name) => [labelOf(name) ?? name, selection[name] || NONE])),
    alertable: selection.alertable,
    without_rules: selection.withoutRules ? 'yes' : undefined,
    sort: order && sortText(order),
    page: page > 1 ? String(page) : undefined,
  });
}

/** The value of the parameter `sort`. */
export function sortText({ by, descending }: Order): string {
  return descending ? `-${by}` : by;
}
