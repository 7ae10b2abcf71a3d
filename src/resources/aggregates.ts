import { add, getOrCreate, newCounts } from '../model/sums.ts';
import type { AlertState } from './alert-state.ts';
import type { Resource } from './fields.ts';
import { type LabelValues, OTHER_VALUE, SUPPLIED_LABELS, type SuppliedLabel } from './label-values.ts';
import { quantityReader } from './quantities.ts';

interface MutableGroup {
  readonly type: string;
  readonly product: string;
  readonly labels: Resource['labels'];
  /** By meaning, then by state: `(other)` may stand for states of every meaning. */
  readonly states: Map<AlertState, Map<string, number>>;
  /** undefined if not reported for any resource of the group. */
  alertRules: number | undefined;
  /** Resources that the coverage is the share of; undefined if it is unknown for every resource of the group. */
  alertable: number | undefined;
  /** Of these, the ones known to have alert rules. */
  withRules: number;
  /** The ones known to have no alert rules. */
  withoutRules: number;
  /** Resources that may be with or without alert rules: their number of rules, or whether they are alertable, is unknown. */
  unknownCoverage: number;
  readonly quantities: Map<string, Map<string, number>>;
}

/** Sums by GPU model, then by unit; sizes in bytes. */
export type Quantities = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The totals of the resources of one type and product with the same labels. */
export type AggregateGroup = Readonly<MutableGroup>;

export interface Aggregates {
  readonly groups: readonly AggregateGroup[];
  /** Resources counted under `(other)`, by label. */
  readonly folded: ReadonlyMap<SuppliedLabel, number>;
  /** The first label reported for each type, which pages show beside its key. */
  readonly typeLabels: ReadonlyMap<string, string>;
  /** Resources that are reported to have no alert rules, exempt ones included. */
  readonly reportedZeros: number;
}

/** Counts the resources of a snapshot. */
export class Aggregation implements Aggregates {
  readonly typeLabels = new Map<string, string>();
  readonly folded = new Map<SuppliedLabel, number>(SUPPLIED_LABELS.map((label) => [label, 0]));
  reportedZeros = 0;
  readonly #types = new Map<string, Map<string, Map<Resource['labels'], MutableGroup>>>();
  readonly #alertability: boolean;
  readonly #values: LabelValues;
  readonly #quantityOf = quantityReader();

  constructor(alertability: boolean, values: LabelValues) {
    this.#alertability = alertability;
    this.#values = values;
  }

  get groups(): readonly AggregateGroup[] {
    return [...this.#types.values()].flatMap((products) =>
      [...products.values()].flatMap((groups) => [...groups.values()]),
    );
  }

  add(resource: Resource): void {
    const type = this.#published('resource_type', resource.type);
    const group = this.#group(type, resource);
    if (type !== '' && !this.typeLabels.get(type))
      this.typeLabels.set(type, type === resource.type ? resource.typeLabel : OTHER_VALUE);
    const state = this.#published('state', resource.state);
    add(getOrCreate(group.states, resource.alertState, newCounts), state, 1);
    if (resource.alertRules === 0) this.reportedZeros += 1;
    countRules(group, resource, this.#alertability);
    const quantity = this.#quantityOf(resource.sku);
    if (quantity === undefined) return;
    const gpuModel = this.#published('gpu_model', resource.gpuModel);
    add(getOrCreate(group.quantities, gpuModel, newCounts), this.#published('unit', quantity.unit), quantity.value);
  }

  #published(label: SuppliedLabel, value: string): string {
    const published = this.#values.published(label, value);
    if (published !== value) add(this.folded, label, 1);
    return published;
  }

  #group(type: string, { product, labels }: Resource): MutableGroup {
    const known = this.#types.get(type)?.get(product)?.get(labels);
    if (known) return known;
    const products = getOrCreate(this.#types, type, () => new Map<string, Map<Resource['labels'], MutableGroup>>());
    const groups = getOrCreate(products, product, () => new Map<Resource['labels'], MutableGroup>());
    return getOrCreate(groups, labels, () => ({
      type,
      product,
      labels,
      alertRules: undefined,
      alertable: undefined,
      withRules: 0,
      withoutRules: 0,
      unknownCoverage: 0,
      states: new Map<AlertState, Map<string, number>>(),
      quantities: new Map<string, Map<string, number>>(),
    }));
  }
}

/**
 * Whether a resource is among those that the coverage is the share of; undefined is unknown. Without `alertability` all are, except
 * for exempt ones.
 */
function needsAlertRules({ alertable }: Pick<Resource, 'alertable'>, alertability: boolean): boolean | undefined {
  return alertability ? alertable : alertable !== false;
}

type CoverageFacts = Pick<Resource, 'alertRules' | 'alertable'>;

/** What is known of the alert rules of a resource. */
export function coverageOf(
  resource: CoverageFacts,
  alertability: boolean,
): 'covered' | 'not covered' | 'exempt' | 'unknown' {
  const needsRules = needsAlertRules(resource, alertability);
  if (needsRules === false) return 'exempt';
  if (resource.alertRules === undefined || needsRules === undefined) return 'unknown';
  return resource.alertRules > 0 ? 'covered' : 'not covered';
}

function countRules(group: MutableGroup, resource: CoverageFacts, alertability: boolean): void {
  const needsRules = needsAlertRules(resource, alertability);
  const coverage = coverageOf(resource, alertability);
  group.alertRules = sumIfKnown(group.alertRules, resource.alertRules);
  if (needsRules !== undefined) group.alertable = sumIfKnown(group.alertable, Number(needsRules));
  if (coverage === 'unknown') group.unknownCoverage += 1;
  else if (coverage === 'covered') group.withRules += 1;
  else if (coverage === 'not covered') group.withoutRules += 1;
}

/** The resources of each meaning that any of them has. */
export function countByAlertState({ groups }: Pick<Aggregates, 'groups'>): ReadonlyMap<AlertState, number> {
  const counts = new Map<AlertState, number>();
  for (const { states } of groups)
    for (const [alertState, ofState] of states) for (const count of ofState.values()) add(counts, alertState, count);
  return counts;
}

type RuleCounts = Pick<AggregateGroup, 'withRules' | 'withoutRules'>;

/** Resources with and without alert rules; undefined where it is unknown for every resource that may be one of them. */
export function knownRuleCounts(counts: RuleCounts & Pick<AggregateGroup, 'unknownCoverage'>): RuleCounts | undefined {
  const { withRules, withoutRules, unknownCoverage } = counts;
  const isUnknown = unknownCoverage > 0 && withRules + withoutRules === 0;
  return isUnknown ? undefined : { withRules, withoutRules };
}

/** undefined: unknown. */
export function sumIfKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
