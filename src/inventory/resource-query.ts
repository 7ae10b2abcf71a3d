import { ALERTABLE, type Order, parseOrder, type Selection, SORT_KEYS } from './selection.ts';

/** The resources that a station page shows, from the query of its URL. */
export interface ResourceQuery {
  readonly selection: Selection;
  readonly order: Order | undefined;
  /** Counted from 1. */
  readonly page: number;
}

/** The query value for resources without a value: an HTML form submits '' when no option is selected. */
export const NONE = '(none)';

const CHOICES = { alertable: ALERTABLE, without_rules: ['yes'], order: ['asc', 'desc'] } as const;

const PARAMETERS = ['search', 'type', 'product', 'state', 'sort', ...Object.keys(CHOICES), 'page'];

/** Empty parameters are ignored; a string is the problem of an invalid one. */
export function parseResourceQuery(query: URLSearchParams): ResourceQuery | string {
  return problemOf(query) ?? queryOf(query);
}

function queryOf(query: URLSearchParams): ResourceQuery {
  const order = parseOrder(query.get('sort') ?? '');
  const alertable = ALERTABLE.find((word) => word === query.get('alertable'));
  return {
    selection: {
      ...(query.get('search') && { search: String(query.get('search')) }),
      ...valueFilter(query, 'type'),
      ...valueFilter(query, 'product'),
      ...valueFilter(query, 'state'),
      ...(alertable && { alertable }),
      ...(query.get('without_rules') === 'yes' && { withoutRules: true }),
    },
    order: order && { by: order.by, descending: order.descending || query.get('order') === 'desc' },
    page: Number(query.get('page') || 1),
  };
}

/** The valid parameters of an invalid query; of a repeated one the first. */
export function usableQuery(query: URLSearchParams): ResourceQuery {
  const usable = new URLSearchParams();
  for (const name of PARAMETERS) {
    const value = query.get(name);
    if (value !== null && problemOf(new URLSearchParams([[name, value]])) === undefined) usable.set(name, value);
  }
  return queryOf(usable);
}

/** The query string, with its question mark. */
export function resourceSearch({ selection, order, page }: ResourceQuery): string {
  const { search, type, product, state, alertable, withoutRules } = selection;
  const given = {
    search,
    type: type === '' ? NONE : type,
    product: product === '' ? NONE : product,
    state: state === '' ? NONE : state,
    alertable,
    without_rules: withoutRules ? 'yes' : undefined,
    sort: order && sortText(order),
    page: page > 1 ? String(page) : undefined,
  };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters.set(name, value);
  return `?${parameters}`;
}

/** The value of the parameter `sort`. */
export function sortText({ by, descending }: Order): string {
  return descending ? `-${by}` : by;
}

function problemOf(query: URLSearchParams): string | undefined {
  const repeated = PARAMETERS.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) return `Expected ${repeated} at most once.`;
  for (const [name, words] of Object.entries(CHOICES)) {
    const known: readonly string[] = words;
    const word = query.get(name);
    if (word && !known.includes(word))
      return `Expected ${name} to be ${known.length === 1 ? '' : 'one of '}${known.join(', ')}.`;
  }
  const sort = query.get('sort');
  if (sort && !parseOrder(sort)) {
    return `Expected sort to be one of ${Object.keys(SORT_KEYS).join(', ')}, with a leading - for descending order.`;
  }
  return /^(?:[1-9]\d{0,8})?$/.test(query.get('page') ?? '')
    ? undefined
    : 'Expected page to be an integer of at least 1.';
}

function valueFilter(query: URLSearchParams, name: 'type' | 'product' | 'state'): Selection {
  const value = query.get(name);
  if (value === null || value === '') return {};
  return { [name]: value === NONE ? '' : value };
}
