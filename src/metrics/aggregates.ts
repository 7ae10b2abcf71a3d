import type { Resource } from '../station/resource.ts';

/** The resources of one type and product, added up. */
export interface Group {
  readonly type: string;
  readonly product: string;
  readonly states: ReadonlyMap<string, number>;
  /** undefined: no resource of the group gave a number. */
  readonly alertRules: number | undefined;
  readonly alertable: number;
  /** Resources with no alert rule, among the alertable ones where that is known; undefined as above. */
  readonly unwatched: number | undefined;
  /** By GPU model, then unit. */
  readonly quantities: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export interface Aggregates {
  readonly groups: readonly Group[];
  /** The first label given for each type: one per type, so that it can be joined on. */
  readonly typeLabels: ReadonlyMap<string, string>;
}

/** One walk over the resources for all families that add them up. */
export function aggregate(resources: Iterable<Resource>, alertability: boolean): Aggregates {
  const types = new Map<string, Map<string, Mutable>>();
  const typeLabels = new Map<string, string>();
  for (const resource of resources) {
    const products = entry(types, resource.type, () => new Map<string, Mutable>());
    const group = entry(products, resource.product, () => emptyGroup(resource));
    if (resource.type !== '' && !typeLabels.get(resource.type)) typeLabels.set(resource.type, resource.typeLabel);
    add(group.states, resource.state, 1);
    if (resource.alertable) group.alertable += 1;
    if (resource.alertRules !== undefined) {
      group.alertRules = (group.alertRules ?? 0) + resource.alertRules;
      const isUnwatched = resource.alertRules === 0 && (!alertability || resource.alertable === true);
      group.unwatched = (group.unwatched ?? 0) + (isUnwatched ? 1 : 0);
    }
    if (resource.quantity) {
      const units = entry(group.quantities, resource.gpuModel, () => new Map<string, number>());
      add(units, resource.quantity.unit, resource.quantity.value);
    }
  }
  return { groups: [...types.values()].flatMap((products) => [...products.values()]), typeLabels };
}

interface Mutable extends Group {
  readonly states: Map<string, number>;
  alertRules: number | undefined;
  alertable: number;
  unwatched: number | undefined;
  readonly quantities: Map<string, Map<string, number>>;
}

function emptyGroup({ type, product }: Resource): Mutable {
  return { type, product, states: new Map(), alertRules: undefined, alertable: 0, unwatched: undefined, quantities: new Map() };
}

function entry<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

function add(sums: Map<string, number>, key: string, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}
