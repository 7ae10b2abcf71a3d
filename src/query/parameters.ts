import { ALERT_STATES } from '../resources/alert-state.ts';
import { ALERTABLE } from '../resources/fields.ts';
import { quoted } from '../text/quoted.ts';
import { isSort, type Selection, SORT_KEYS, VALUE_FILTERS, WITHOUT_RULES } from './selection.ts';

/** A parameter of a URL: what its value is expected to be. */
interface Parameter {
  readonly expected: string;
  readonly isValid: (value: string) => boolean;
}

export type Parameters<Name extends string = string> = Readonly<Record<Name, Parameter>>;

export const TEXT: Parameter = { expected: 'a text', isValid: () => true };

export const PAGE: Parameter = {
  expected: 'an integer of at least 1',
  isValid: (value) => /^[1-9]\d{0,8}$/.test(value),
};

export function oneOf(words: readonly string[]): Parameter {
  return {
    expected: `${words.length === 1 ? '' : 'one of '}${words.join(', ')}`,
    isValid: (value) => words.includes(value),
  };
}

export function textParameters(names: readonly string[]): Parameters {
  return Object.fromEntries(names.map((name) => [name, TEXT]));
}

/** Empty parameters are ignored; an unknown one is a problem, because a filter that is ignored would list too much. */
export function parseParameters<Name extends string>(query: URLSearchParams, parameters: Parameters<Name>) {
  /** The valid ones; of a repeated one the first. */
  const values: Partial<Record<Name, string>> = {};
  const problems: string[] = [];
  const known = ['format', ...Object.keys(parameters)];
  const unknown = [...query].find(([name, value]) => value !== '' && !known.includes(name));
  if (unknown) problems.push(`Unknown parameter ${quoted(unknown[0])}. Expected some of ${known.join(', ')}.`);
  for (const [name, { expected, isValid }] of Object.entries(parameters) as [Name, Parameter][]) {
    const [value, ...others] = query.getAll(name).filter(Boolean);
    if (others.length > 0) problems.push(`Expected ${name} at most once.`);
    if (value !== undefined && !isValid(value)) problems.push(`Expected ${name} to be ${expected}.`);
    else if (value !== undefined) values[name] = value;
  }
  /** The first one, if a parameter is unknown, invalid or repeated. */
  return { values, problem: problems[0] };
}

/** The query of a URL with its question mark; parameters without a value are left out. */
export function queryText(values: Readonly<Record<string, string | undefined>>): string {
  return `?${new URLSearchParams(Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]))}`;
}

/** The resources that a page shows, from the query of its URL. */
export interface ResourceQuery {
  readonly selection: Selection;
  /** As `searchStations` expects it. */
  readonly sort: string;
  /** Counted from 1. */
  readonly page: number;
}

/** The query value for resources without a value: an HTML form submits '' when no option is selected. */
export const NONE = '(none)';

/** The parameters of the selection, the order and the page. */
export const PARAMETERS: Parameters = {
  search: TEXT,
  /** Only a search in all stations has this filter. */
  station: TEXT,
  ...textParameters(VALUE_FILTERS),
  alert_state: oneOf(ALERT_STATES),
  alertable: oneOf(ALERTABLE),
  without_rules: oneOf(Object.keys(WITHOUT_RULES)),
  sort: {
    expected: `one of ${SORT_KEYS.join(', ')} or station, with a leading - for descending order`,
    isValid: (value) => isSort(value, [...SORT_KEYS, 'station']),
  },
  page: PAGE,
};

/** The valid parameters, and the problem of the first that is not. `labels`: names of `resource_labels`, which are parameters too. */
export function parseResourceQuery(
  given: URLSearchParams,
  labels: readonly string[] = [],
): { readonly query: ResourceQuery; readonly problem: string | undefined } {
  const { values, problem } = parseParameters(given, { ...PARAMETERS, ...textParameters(labels) });
  const { sort = '', page = 1, search = '', ...selected } = values;
  // A pasted ID often has spaces around it.
  const text = search.trim();
  const filters = Object.entries(selected).map(([name, value]) => [name, value === NONE ? '' : value]);
  const selection: Selection = Object.fromEntries(filters);
  const query = {
    selection: text === '' ? selection : { ...selection, search: text },
    sort,
    page: Number(page),
  };
  return { query, problem };
}

/** The query string, with its question mark. */
export function resourceSearch({ selection = {}, sort, page = 1 }: Partial<ResourceQuery>): string {
  const { search, ...values } = selection;
  return queryText({
    search,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || NONE])),
    sort,
    page: page > 1 ? String(page) : undefined,
  });
}
