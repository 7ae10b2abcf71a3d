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

/** The parameters, each with what it is expected to be and whether a value is valid; '' always is. */
export const PARAMETERS: Readonly<Record<string, readonly [expected: string, isValid: (value: string) => boolean]>> = {
  search: ['text', () => true],
  ...Object.fromEntries(VALUE_FILTERS.map((name) => [name, ['text', () => true]])),
  alertable: oneOf(...ALERTABLE),
  without_rules: oneOf('yes'),
  sort: [
    `one of ${Object.keys(SORT_KEYS).join(', ')}, with a leading - for descending order`,
    (value) => parseOrder(value) !== undefined,
  ],
  order: oneOf('asc', 'desc'),
  page: ['an integer of at least 1', (value) => /^[1-9]\d{0,8}$/.test(value)],
};

function oneOf(...words: readonly string[]): readonly [string, (value: string) => boolean] {
  return [`${words.length === 1 ? '' : 'one of '}${words.join(', ')}`, (value) => words.includes(value)];
}

/** Empty parameters are ignored; a string is the problem of an invalid one. `labels`: names of `resource_labels`, which are parameters too. */
export function parseResourceQuery(query: URLSearchParams, labels: readonly string[] = []): ResourceQuery | string {
  for (const name of [...Object.keys(PARAMETERS), ...labels]) {
    if (query.getAll(name).length > 1) return `Expected ${name} at most once.`;
    if (query.get(name) && validValue(query, name) === undefined)
      return `Expected ${name} to be ${PARAMETERS[name]?.[0]}.`;
  }
  return usableQuery(query, labels);
}

function validValue(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name);
  return value && PARAMETERS[name]?.[1](value) !== false ? value : undefined;
}

/** The valid parameters of a query; of a repeated one the first. */
export function usableQuery(query: URLSearchParams, labels: readonly string[] = []): ResourceQuery {
  const valid = (name: string) => validValue(query, name);
  const order = parseOrder(valid('sort') ?? '');
  const filters = [...VALUE_FILTERS.map((name) => [name, name]), ...labels.map((name) => [labelFilter(name), name])];
  const values = filters.map(([filter, name = '']) => [filter, valid(name) === NONE ? '' : valid(name)]);
  const selection = {
    search: valid('search'),
    ...Object.fromEntries(values),
    alertable: valid('alertable'),
    withoutRules: valid('without_rules') && true,
  };
  return {
    selection: Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined)) as Selection,
    order: order && { by: order.by, descending: order.descending || valid('order') === 'desc' },
    page: Number(valid('page') ?? 1),
  };
}

/** The query string, with its question mark. `text`: the name of the parameter for the text to search for. */
export function resourceSearch({ selection, order, page }: ResourceQuery, text = 'search'): string {
  const given = {
    [text]: selection.search,
    ...Object.fromEntries(valueFilters(selection).map((name) => [labelOf(name) ?? name, selection[name] || NONE])),
    alertable: selection.alertable,
    without_rules: selection.withoutRules && 'yes',
    sort: order && sortText(order),
    page: page > 1 ? String(page) : undefined,
  };
  return `?${new URLSearchParams(Object.entries(given).filter((entry): entry is [string, string] => !!entry[1]))}`;
}

/** The value of the parameter `sort`. */
export function sortText({ by, descending }: Order): string {
  return descending ? `-${by}` : by;
}
