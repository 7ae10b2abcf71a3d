import type { Part } from '../model/listing.ts';
import { coverageOf } from '../resources/aggregates.ts';
import type { AlertState } from '../resources/alert-state.ts';
import { type Alertable, alertableOf, columnsWith, type Resource, resourceLabel } from '../resources/fields.ts';
import { OrderedRows } from '../tasks/ordered-rows.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';

/** The coverage that each value of `without_rules` selects. */
export const WITHOUT_RULES = { yes: 'not covered', no: 'covered', unknown: 'unknown' } as const;

type WithoutRules = keyof typeof WITHOUT_RULES;

/**
 * Which of a station's resources to show, as the parameters of a URL; an absent one selects all.
 * Type, product, state and labels select the resources with exactly this value ('': without one). When no resource has it, it is a short form
 * and selects every value that contains it as consecutive parts: `firing` selects `ALERTSTATE_FIRING`.
 */
export interface Selection {
  /** The exact name of a station. */
  readonly station?: string;
  /** What the state means. */
  readonly alert_state?: AlertState;
  /** A substring of the id, name or display name, case-insensitive. */
  readonly search?: string;
  readonly type?: string;
  readonly product?: string;
  readonly state?: string;
  readonly alertable?: Alertable;
  /** Only resources with that alert coverage, as the metrics count them. */
  readonly without_rules?: WithoutRules;
  /** By the name of a label of `resource_labels`, which is not that of another parameter. */
  readonly [label: string]: string;
}

/** Of a selection of resources that are known not to be covered: those that may not be covered either; undefined for any other. */
export function unknownCoverageIn(selection: Selection): Selection | undefined {
  return selection.without_rules === 'yes' ? { ...selection, without_rules: 'unknown' } : undefined;
}

const COLUMNS = columnsWith([]);

/** The names of the columns that can be sorted by. */
export const SORT_KEYS: readonly string[] = Object.keys(COLUMNS).filter((name) => COLUMNS[name]?.sortBy);

/** Whether a text is one of the keys, or has one after a minus sign. */
export function isSort(text: string, keys = SORT_KEYS): boolean {
  return keys.includes(text.replace(/^-/, ''));
}

/** A station to be searched. */
export interface SearchedStation {
  readonly name: string;
  /** undefined: it has no data. */
  readonly parts: readonly Part<Resource>[] | undefined;
  /** Whether the station lists which resources are alertable. */
  readonly alertability: boolean;
}

/** A resource and the name of its station. */
export interface StationResource {
  readonly station: string;
  readonly resource: Resource;
}

export interface SearchResult {
  /** In the order of the stations and of their listings when no other is given. */
  readonly found: OrderedRows<StationResource>;
  /** How many stations have one of them. */
  readonly foundStations: number;
  /** Stations that could not be searched. */
  readonly withoutData: readonly string[];
}

/**
 * The selected resources of all stations. Yields to the event loop between blocks of resources.
 * Rejects with the reason of the signal once it aborts.
 * `sort`: a sort key or `station`, after a minus sign in descending order; '' is the order of the listings. Unknown and empty values are last
 * in either direction; ties are sorted by id, then by station.
 */
export async function searchStations(
  stations: readonly SearchedStation[],
  selection: Selection,
  sort = '',
  signal?: AbortSignal,
): Promise<SearchResult> {
  const { station: only } = selection;
  const searched = only === undefined ? stations : stations.filter(({ name }) => name === only);
  const allParts = searched.flatMap(({ parts }) => parts ?? []);
  const stationOfPart = searched.flatMap((station) => (station.parts ?? []).map(() => station));
  // A value that one station has exactly is no short form in any other.
  const isSelected = await selectionFilter(allParts, selection, signal);
  const compare = sort === '' ? undefined : comparison(sort);
  const runs: StationResource[][] = [];
  const foundStations = new Set<string>();
  // All parts at once: stations are small, and a pause is due after the same number of rows as in a large one.
  await forEachPart(allParts, (part, index) => {
    signal?.throwIfAborted();
    const { name: station, alertability } = stationOfPart[index] as SearchedStation;
    const selected = part.filter((resource) => isSelected(resource, alertability));
    if (selected.length === 0) return;
    const run = selected.map((resource) => ({ station, resource }));
    runs.push(compare ? run.sort(compare) : run);
    foundStations.add(station);
  });
  const withoutData = searched.filter(({ parts }) => parts === undefined).map(({ name }) => name);
  return { found: new OrderedRows(runs, compare, signal), foundStations: foundStations.size, withoutData };
}

/** The properties that the filters compare; any other filter is a label. */
const FILTERED_PROPERTIES = { type: 'type', product: 'product', state: 'state', alert_state: 'alertState' } as const;

export const VALUE_FILTERS: readonly string[] = Object.keys(FILTERED_PROPERTIES);

function filteredValue(filter: string): (resource: Resource) => string {
  if (!Object.hasOwn(FILTERED_PROPERTIES, filter)) return (resource) => resourceLabel(resource, filter);
  const property = FILTERED_PROPERTIES[filter as keyof typeof FILTERED_PROPERTIES];
  return (resource) => resource[property];
}

function valueFilters({
  search,
  station,
  alertable,
  without_rules,
  ...values
}: Selection): [filter: string, given: string][] {
  return Object.entries(values);
}

type ResourceTest = (resource: Resource, alertability: boolean) => boolean;

/** A filter of values is equality where a resource has exactly the given value, else the short form. */
async function selectionFilter(
  parts: readonly Part<Resource>[],
  selection: Selection,
  signal: AbortSignal | undefined,
): Promise<ResourceTest> {
  const tests: ResourceTest[] = [];
  for (const [filter, given] of valueFilters(selection)) {
    const valueIn = filteredValue(filter);
    const isGiven = (resource: Resource) => valueIn(resource) === given;
    let isPresent = false;
    await forEachPart(parts, (part) => {
      signal?.throwIfAborted();
      isPresent ||= part.some(isGiven);
    });
    const isShort = shortFormTest(given);
    tests.push(isPresent ? isGiven : (resource) => isShort(valueIn(resource)));
  }
  const { search, alertable, without_rules } = selection;
  if (alertable !== undefined) tests.push((resource) => alertableOf(resource) === alertable);
  if (without_rules !== undefined) {
    const coverage = WITHOUT_RULES[without_rules];
    tests.push((resource, alertability) => coverageOf(resource, alertability) === coverage);
  }
  if (search !== undefined) tests.push(textTest(search));
  return (resource, alertability) => tests.every((isMatch) => isMatch(resource, alertability));
}

/** Whether the parts of a short form are consecutive parts of a value: `eip` and `network.eip` are short for `type.network.eip.v1`. */
export function shortFormTest(given: string): (value: string) => boolean {
  const wanted = dottedParts(given);
  const known = new Map<string, boolean>();
  return (value) => {
    const remembered = known.get(value);
    if (remembered !== undefined) return remembered;
    const isMatch = wanted !== '..' && dottedParts(value).includes(wanted);
    known.set(value, isMatch);
    return isMatch;
  };
}

/** The letters and digits of a value in lower case, between dots: `.alertstate.firing.`, `..` without any. */
function dottedParts(value: string): string {
  return `.${value.toLowerCase().match(PARTS)?.join('.') ?? ''}.`;
}

const PARTS = /[\p{L}\p{M}\p{N}]+/gu;

/** Whether id, name or display name of a resource contains the text, in any case. */
export function textTest(text: string): (resource: Pick<Resource, 'id' | 'name' | 'displayName'>) => boolean {
  const wanted = text.toLowerCase();
  return ({ id, name, displayName }) =>
    id.toLowerCase().includes(wanted) ||
    name.toLowerCase().includes(wanted) ||
    displayName.toLowerCase().includes(wanted);
}

type CompareRows = (a: StationResource, b: StationResource) => number;

function comparison(sort: string): CompareRows {
  const sign = sort.startsWith('-') ? -1 : 1;
  const keyOf = sortKeyOf(sort.replace(/^-/, ''));
  return (a, b) => {
    const left = keyOf(a);
    const right = keyOf(b);
    if (left === right) return isEarlier(a, b) ? -1 : 1;
    if (isEmpty(left) || isEmpty(right)) return isEmpty(left) ? 1 : -1;
    return left < right ? -sign : sign;
  };
}

function isEarlier({ station, resource: { id } }: StationResource, other: StationResource): boolean {
  return id === other.resource.id ? station < other.station : id < other.resource.id;
}

function sortKeyOf(by: string): (row: StationResource) => string | number | undefined {
  if (by === 'station') return ({ station }) => station;
  const sortBy = COLUMNS[by]?.sortBy;
  return ({ resource }) => sortBy?.(resource);
}

function isEmpty(key: string | number | undefined): key is '' | undefined {
  return key === undefined || key === '';
}
