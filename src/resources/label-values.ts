import { EXPECTED_STATES } from './alert-state.ts';

/** Stands for all values of a label beyond the limit. */
export const OTHER_VALUE = '(other)';

/** Labels of aggregates and counters whose values the service supplies. */
export const SUPPLIED_LABELS = ['resource_type', 'state', 'gpu_model', 'unit'] as const;

export type SuppliedLabel = (typeof SUPPLIED_LABELS)[number];

/** Known beforehand and few; a missing value, '', is not one of the service. */
const ALWAYS_PUBLISHED: ReadonlySet<string> = new Set(['', OTHER_VALUE, ...EXPECTED_STATES]);

/**
 * The values of labels that aggregates and counters of a station publish: the first ones that the service supplied, up to a limit, and
 * `(other)` for the rest. A value never changes sides, so that counters do not decrease and what was encoded before stays valid.
 */
export class LabelValues {
  readonly #limit: number;
  readonly #admitted: ReadonlyMap<SuppliedLabel, Set<string>>;

  /** `before`: those of the station until a reload. */
  constructor(limit: number, before?: LabelValues) {
    this.#limit = limit;
    const admitted = before === undefined ? undefined : before.#admitted;
    this.#admitted = new Map(SUPPLIED_LABELS.map((label) => [label, new Set(admitted?.get(label))]));
  }

  /** The value, or `(other)` beyond the limit. */
  limited(label: SuppliedLabel, value: string): string {
    const values = this.#admitted.get(label) as Set<string>;
    if (values.has(value) || ALWAYS_PUBLISHED.has(value)) return value;
    if (values.size >= this.#limit) return OTHER_VALUE;
    values.add(value);
    return value;
  }
}
