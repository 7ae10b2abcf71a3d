import { add } from '../../model/sums.ts';
import { NONE } from '../../query/parameters.ts';
import type { AggregateGroup, Aggregates } from '../../resources/aggregates.ts';
import { resourceLabel } from '../../resources/fields.ts';
import { OTHER_VALUE } from '../../resources/label-values.ts';
import { shortTypes } from '../../status/resource-words.ts';

/** Resource counts in descending order; the key is '' for resources without a value. */
export interface ResourceCounts {
  readonly types: readonly Count[];
  readonly products: readonly Count[];
  /** Counts by the value of each label of `resource_labels`, under its name. */
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
  const counts = (keyOf: (group: AggregateGroup) => string) => {
    const byKey = new Map<string, number>();
    for (const group of groups) {
      for (const byState of group.states.values())
        for (const count of byState.values()) add(byKey, keyOf(group), count);
    }
    return byKey;
  };
  const types = counts(({ type }) => type);
  const names = shortTypes(types.keys());
  return {
    types: rankedCounts(types, (key) => names.get(key) || NONE, typeLabels),
    products: rankedCounts(counts(({ product }) => product)),
    labels: new Map(labelNames.map((name) => [name, rankedCounts(counts((group) => resourceLabel(group, name)))])),
  };
}

function rankedCounts(
  counts: ReadonlyMap<string, number>,
  nameOf = (key: string) => key || NONE,
  labels?: ReadonlyMap<string, string>,
): Count[] {
  return Array.from(counts, ([key, count]) => ({
    key,
    name: nameOf(key),
    label: key === OTHER_VALUE ? '' : (labels?.get(key) ?? ''),
    count,
  })).sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}
