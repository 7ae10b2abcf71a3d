import { type Aggregates, add } from '../refresh/aggregates.ts';
import { OTHER } from '../refresh/label-values.ts';
import { NONE } from './parameters.ts';
import { shortTypes, stateWord } from './resource-words.ts';

/** Resource counts in descending order; the key is '' for resources without a value. */
export interface ResourceCounts {
  readonly types: readonly Count[];
  readonly states: readonly Count[];
  readonly products: readonly Count[];
  /** By the names of `resource_labels`. */
  readonly labels: ReadonlyMap<string, readonly Count[]>;
}

export interface Count {
  readonly key: string;
  /** The key as the page shows it. */
  readonly name: string;
  /** The service's label of the key, if reported. */
  readonly label: string;
  readonly count: number;
}

export function countResources(
  { groups, typeLabels }: Pick<Aggregates, 'groups' | 'typeLabels'>,
  labelNames: readonly string[],
): ResourceCounts {
  const labels = new Map(labelNames.map((name) => [name, new Map<string, number>()]));
  const types = new Map<string, number>();
  const states = new Map<string, number>();
  const products = new Map<string, number>();
  for (const group of groups) {
    for (const [state, count] of group.states) {
      add(types, group.type, count);
      add(states, state, count);
      add(products, group.product, count);
      for (const [name, counts] of labels) add(counts, group.labels[name] ?? '', count);
    }
  }
  const names = shortTypes(types.keys());
  return {
    types: ranked(types, (key) => names.get(key) as string, typeLabels),
    states: ranked(states, stateWord),
    products: ranked(products, (key) => key),
    labels: new Map(Array.from(labels, ([name, counts]) => [name, ranked(counts, (key) => key)])),
  };
}

function ranked(
  counts: ReadonlyMap<string, number>,
  nameOf: (key: string) => string,
  labels?: ReadonlyMap<string, string>,
): Count[] {
  return Array.from(counts, ([key, count]) => ({
    key,
    name: key === '' ? NONE : nameOf(key),
    label: (key !== OTHER && labels?.get(key)) || '',
    count,
  })).sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}
