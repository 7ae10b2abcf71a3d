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
  /** Of those without alert rules, the ones whose creation time is unknown. */
  unknownAge: number;
  /** Those that are older than `coverage.within`; undefined without it. */
  overdue: number | undefined;
  /** When the oldest of them was created, in Unix seconds; undefined: it is known of none. */
  oldestUncovered: number | undefined;
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
  /** Whether the same resources are overdue at another time. */
  readonly holdsFor: (overdueBefore: number | undefined) => boolean;
}

/** Counts the resources of a snapshot. */
export class Aggregation implements Aggregates {
  readonly typeLabels = new Map<string, string>();
  readonly folded = new Map<SuppliedLabel, number>(SUPPLIED_LABELS.map((label) => [label, 0]));
  reportedZeros = 0;
  readonly #types = new Map<string, Map<string, Map<Resource['labels'], MutableGroup>>>();
  readonly #alertability: boolean;
  readonly #values: LabelValues;
  /** When a resource that is not covered must have been created to be overdue, in Unix seconds; undefined: none is. */
  readonly #overdueBefore: number | undefined;
  #youngestOverdue = Number.NEGATIVE_INFINITY;
  #oldestOther = Number.POSITIVE_INFINITY;
  readonly #quantityOf = quantityReader();

  constructor(alertability: boolean, values: LabelValues, overdueBefore: number | undefined) {
    this.#alertability = alertability;
    this.#values = values;
    this.#overdueBefore = overdueBefore;
  }

  /** The clock may also have been set back. */
  holdsFor(overdueBefore: number | undefined): boolean {
    if (overdueBefore === undefined) return true;
    return this.#youngestOverdue < overdueBefore && overdueBefore <= this.#oldestOther;
  }

  get groups(): readonly AggregateGroup[] {
    return [...this.#types.values()].flatMap((products) =>
      [...products.values()].flatMap((groups) => [...groups.values()]),
    );
  }

  add(resource: Resource): void {
    const { type, state, quantity } = this.#published(resource);
    const group = this.#group(type, resource);
    if (type !== '' && !this.typeLabels.get(type))
      this.typeLabels.set(type, type === resource.type ? resource.typeLabel : OTHER_VALUE);
    add(getOrCreate(group.states, resource.alertState, newCounts), state, 1);
    if (resource.alertRules === 0) this.reportedZeros += 1;
    const coverage = countRules(group, resource, this.#alertability);
    if (coverage === 'not covered') this.#countAge(group, resource.createdSeconds);
    if (quantity) add(getOrCreate(group.quantities, quantity.gpuModel, newCounts), quantity.unit, quantity.value);
  }

  #countAge(group: MutableGroup, created: number | undefined): void {
    if (created === undefined) {
      group.unknownAge += 1;
      return;
    }
    group.oldestUncovered = Math.min(created, group.oldestUncovered ?? created);
    if (this.#overdueBefore !== undefined && created < this.#overdueBefore) {
      group.overdue = (group.overdue ?? 0) + 1;
      this.#youngestOverdue = Math.max(this.#youngestOverdue, created);
    } else this.#oldestOther = Math.min(this.#oldestOther, created);
  }

  /** What is published of a resource, once for all families: each label that is folded counts the resource. */
  #published({ type, state, gpuModel, sku }: Resource) {
    const quantity = this.#quantityOf(sku);
    return {
      type: this.#folded('resource_type', type),
      state: this.#folded('state', state),
      quantity: quantity && {
        gpuModel: this.#folded('gpu_model', gpuModel),
        unit: this.#folded('unit', quantity.unit),
        value: quantity.value,
      },
    };
  }

  #folded(label: SuppliedLabel, value: string): string {
    const published = this.#values.limited(label, value);
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
      unknownAge: 0,
      overdue: this.#overdueBefore === undefined ? undefined : 0,
      oldestUncovered: undefined,
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

type RuleFields = Pick<Resource, 'alertRules' | 'alertable'>;

type ResourceCoverage = 'covered' | 'not covered' | 'exempt' | 'unknown';

/** What is known of the alert rules of a resource. */
export function coverageOf(resource: RuleFields, alertability: boolean): ResourceCoverage {
  const needsRules = needsAlertRules(resource, alertability);
  if (needsRules === false) return 'exempt';
  if (resource.alertRules === undefined || needsRules === undefined) return 'unknown';
  return resource.alertRules > 0 ? 'covered' : 'not covered';
}

function countRules(group: MutableGroup, resource: RuleFields, alertability: boolean): ResourceCoverage {
  const needsRules = needsAlertRules(resource, alertability);
  const coverage = coverageOf(resource, alertability);
  group.alertRules = sumIfKnown(group.alertRules, resource.alertRules);
  if (needsRules !== undefined) group.alertable = sumIfKnown(group.alertable, Number(needsRules));
  if (coverage === 'unknown') group.unknownCoverage += 1;
  else if (coverage === 'covered') group.withRules += 1;
  else if (coverage === 'not covered') group.withoutRules += 1;
  return coverage;
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

type AgeCounts = RuleCounts & Pick<AggregateGroup, 'unknownCoverage' | 'unknownAge' | 'overdue'>;

/** Overdue resources; undefined without `coverage.within`, and where it is unknown for every resource that may be one of them. */
export function knownOverdue({ withRules, withoutRules, unknownCoverage, unknownAge, overdue }: AgeCounts) {
  const unknown = unknownCoverage + unknownAge;
  return unknown > 0 && withRules + withoutRules === unknownAge ? undefined : overdue;
}

/** undefined: unknown. */
export function sumIfKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
