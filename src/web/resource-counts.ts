import type { Aggregates } from '../metrics/aggregates.ts';

/** Resources by what they have in common, the most frequent first; '' stands for what a resource does not have. */
export interface ResourceCounts {
  readonly types: readonly Count[];
  readonly states: readonly Count[];
  readonly products: readonly Count[];
}

export interface Count {
  readonly key: string;
  /** The service's word for the key, where it gave one. */
  readonly label: string;
  readonly count: number;
}

export function countResources({ groups, typeLabels }: Aggregates): ResourceCounts {
  const types = new Map<string, number>();
  const states = new Map<string, number>();
  const products = new Map<string, number>();
  for (const group of groups) {
    for (const [state, count] of group.states) {
      add(types, group.type, count);
      add(states, state, count);
      add(products, group.product, count);
    }
  }
  return { types: ranked(types, typeLabels), states: ranked(states), products: ranked(products) };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function ranked(counts: ReadonlyMap<string, number>, labels?: ReadonlyMap<string, string>): Count[] {
  return Array.from(counts, ([key, count]) => ({ key, label: labels?.get(key) ?? '', count })).sort(
    (a, b) => b.count - a.count || (a.key < b.key ? -1 : 1),
  );
}
