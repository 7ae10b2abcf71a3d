import { EXPECTED_STATES } from '../model/alert-state.ts';
import { MAX_LABEL_VALUES } from '../model/station-spec.ts';

/** Stands for all values of a label beyond the limit. */
export const OTHER_VALUE = '(other)';

/** Labels of aggregates and counters whose values the service supplies. */
export const SUPPLIED_LABELS = ['resource_type', 'state', 'gpu_model', 'unit'] as const;

export type SuppliedLabel = (typeof SUPPLIED_LABELS)[number];

/** Combinations of labels in one family, for each allowed value. */
const COMBINATIONS_PER_VALUE = 10;

/** Known beforehand and few; so is a missing value, '', which is not one of the service. */
const UNBOUNDED_STATES: ReadonlySet<string> = new Set(['', ...EXPECTED_STATES]);

/**
 * The values of labels that aggregates and counters of a station publish: the first ones that the service supplied, up to a limit, and
 * `(other)` for the rest. A value never changes sides, so that counters do not decrease and what was encoded before stays valid.
 */
export class LabelValues {
  readonly #limit: number;
  readonly #admitted = newlyAdmitted();

  constructor(limit: number) {
    this.#limit = limit;
  }

  type(type: string): string {
    return this.#bounded('resource_type', type);
  }

  /** The state of a resource whose type is published as `type`. */
  state(type: string, state: string): string {
    if (UNBOUNDED_STATES.has(state)) return state;
    const value = this.#bounded('state', state);
    return this.#admits('states', this.#index('resource_type', type), this.#index('state', value))
      ? value
      : OTHER_VALUE;
  }

  /** The labels of a quantity, for a resource whose type is published as `type`. */
  quantity(type: string, gpuModel: string, unit: string): { readonly gpuModel: string; readonly unit: string } {
    const values = { gpuModel: this.#bounded('gpu_model', gpuModel), unit: this.#bounded('unit', unit) };
    const indexes = [this.#index('gpu_model', values.gpuModel), this.#index('unit', values.unit)];
    const isAdmitted = this.#admits('quantities', this.#index('resource_type', type), ...indexes);
    return isAdmitted ? values : { gpuModel: OTHER_VALUE, unit: OTHER_VALUE };
  }

  #bounded(label: SuppliedLabel, value: string): string {
    const values = this.#admitted[label];
    if (values.has(value)) return value;
    if (values.size - ALWAYS_ADMITTED.length >= this.#limit) return OTHER_VALUE;
    values.set(value, values.size);
    return value;
  }

  #index(label: SuppliedLabel, value: string): number {
    return this.#admitted[label].get(value) ?? 0;
  }

  /** True for the first combinations up to the limit, each time. */
  #admits(family: 'states' | 'quantities', ...indexes: readonly number[]): boolean {
    const combinations = this.#admitted[family];
    const combination = indexes.reduce((sum, index) => sum * MAX_INDEX + index, 0);
    if (combinations.has(combination)) return true;
    if (combinations.size >= this.#limit * COMBINATIONS_PER_VALUE) return false;
    combinations.add(combination);
    return true;
  }
}

/** Values by the order in which they were supplied, and combinations of these indexes: so that a long text is stored once. */
type Admitted = Readonly<Record<SuppliedLabel, Map<string, number>>> & {
  readonly states: Set<number>;
  readonly quantities: Set<number>;
};

const ALWAYS_ADMITTED = ['', OTHER_VALUE];

/** Indexes are below it, and three of them fit into the integers of a double: otherwise two combinations would be taken for one. */
const MAX_INDEX = MAX_LABEL_VALUES + ALWAYS_ADMITTED.length;

function newlyAdmitted(): Admitted {
  const values = SUPPLIED_LABELS.map((label) => [label, new Map(ALWAYS_ADMITTED.map((value, at) => [value, at]))]);
  return { ...Object.fromEntries(values), states: new Set(), quantities: new Set() };
}
