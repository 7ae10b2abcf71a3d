import { ALERTABLE, type Order, type Selection, SORT_KEYS, type SortKey } from '../station/selection.ts';

/** Which resources a station's page shows, as its address tells it. */
export interface ResourceQuery {
  readonly selection: Selection;
  readonly order: Order | undefined;
  /** Counted from 1. */
  readonly page: number;
}

/** Stands in an address for what a resource does not have: a form cannot tell an empty choice from none. */
export const NONE = '(none)';

const CHOICES = {
  alertable: ALERTABLE,
  without_rules: ['yes'],
  sort: Object.keys(SORT_KEYS) as SortKey[],
  order: ['asc', 'desc'],
} as const;

const PARAMETERS = ['search', 'type', 'product', 'state', ...Object.keys(CHOICES), 'page'];

/** What is empty does not narrow; a text tells what was expected of a value that cannot be meant. */
export function readResourceQuery(query: URLSearchParams): ResourceQuery | string {
  const problem = problemOf(query);
  if (problem !== undefined) return problem;
  const sort = CHOICES.sort.find((key) => key === query.get('sort'));
  const alertable = ALERTABLE.find((word) => word === query.get('alertable'));
  return {
    selection: {
      ...(query.get('search') && { search: String(query.get('search')) }),
      ...narrowing(query, 'type'),
      ...narrowing(query, 'product'),
      ...narrowing(query, 'state'),
      ...(alertable && { alertable }),
      ...(query.get('without_rules') === 'yes' && { withoutRules: true }),
    },
    order: sort && { by: sort, descending: query.get('order') === 'desc' },
    page: Number(query.get('page') || 1),
  };
}

/** The query as an address tells it, with its question mark. */
export function resourceSearch({ selection, order, page }: ResourceQuery): string {
  const { search, type, product, state, alertable, withoutRules } = selection;
  const given = {
    search,
    type: type === '' ? NONE : type,
    product: product === '' ? NONE : product,
    state: state === '' ? NONE : state,
    alertable,
    without_rules: withoutRules ? 'yes' : undefined,
    sort: order?.by,
    order: order?.descending ? 'desc' : undefined,
    page: page > 1 ? String(page) : undefined,
  };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters.set(name, value);
  return `?${parameters}`;
}

function problemOf(query: URLSearchParams): string | undefined {
  const repeated = PARAMETERS.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) return `Expected ${repeated} once.`;
  for (const [name, words] of Object.entries(CHOICES)) {
    const known: readonly string[] = words;
    const word = query.get(name);
    if (word && !known.includes(word)) return `Expected ${name} to be one of ${known.join(', ')}.`;
  }
  return /^(?:[1-9]\d{0,8})?$/.test(query.get('page') ?? '') ? undefined : 'Expected page to be a whole number of at least 1.';
}

function narrowing(query: URLSearchParams, name: 'type' | 'product' | 'state'): Selection {
  const value = query.get(name);
  if (value === null || value === '') return {};
  return { [name]: value === NONE ? '' : value };
}
