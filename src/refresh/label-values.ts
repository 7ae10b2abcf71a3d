/** Stands for all values of a label beyond the limit. */
export const OTHER = '(other)';

/** Labels of aggregates and counters whose values the service supplies. */
export const SUPPLIED_LABELS = ['resource_type', 'state', 'gpu_model', 'unit'] as const;

export type SuppliedLabel = (typeof SUPPLIED_LABELS)[number];

/** Combinations of labels in one family, for each allowed value. */
const COMBINATIONS_PER_VALUE = 10;

/** Characters of all values of a label, for each allowed value: bounds the memory where all of them are long. */
const CHARACTERS_PER_VALUE = 128;

/**
 * The values of labels that aggregates and counters of a station publish: the first ones that the service supplied, up to a limit, and
 * `(other)` for the rest. A value never changes sides, so that counters do not decrease and what was encoded before stays valid.
 */
export class LabelValues {
  readonly #values: Readonly<Record<SuppliedLabel, BoundedValues>>;
  readonly #states: Combinations;
  readonly #quantities: Combinations;

  constructor(
    limit: number,
    values = byLabel(() => new BoundedValues(limit)),
    states = new Combinations(limit * COMBINATIONS_PER_VALUE),
    quantities = new Combinations(limit * COMBINATIONS_PER_VALUE),
  ) {
    this.#values = values;
    this.#states = states;
    this.#quantities = quantities;
  }

  /** The same values with another limit; those above it stay. */
  withLimit(limit: number): LabelValues {
    return new LabelValues(
      limit,
      byLabel((label) => this.#values[label].withLimit(limit)),
      this.#states.withLimit(limit * COMBINATIONS_PER_VALUE),
      this.#quantities.withLimit(limit * COMBINATIONS_PER_VALUE),
    );
  }

  type(type: string): string {
    return this.#values.resource_type.bounded(type);
  }

  /** Of a resource whose type is published as `type`. */
  state(type: string, state: string): string {
    const value = this.#values.state.bounded(state);
    return value === OTHER || this.#states.admit(type, value, '') ? value : OTHER;
  }

  /** Of a resource whose type is published as `type`. */
  quantity(type: string, gpuModel: string, unit: string): { readonly gpuModel: string; readonly unit: string } {
    const values = { gpuModel: this.#values.gpu_model.bounded(gpuModel), unit: this.#values.unit.bounded(unit) };
    return this.#quantities.admit(type, values.gpuModel, values.unit) ? values : { gpuModel: OTHER, unit: OTHER };
  }
}

function byLabel<Value>(create: (label: SuppliedLabel) => Value): Readonly<Record<SuppliedLabel, Value>> {
  return Object.fromEntries(SUPPLIED_LABELS.map((label) => [label, create(label)])) as Record<SuppliedLabel, Value>;
}

class BoundedValues {
  readonly #limit: number;
  readonly #values = new Set<string>();
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  withLimit(limit: number): BoundedValues {
    const copy = new BoundedValues(limit);
    for (const value of this.#values) copy.#values.add(value);
    copy.#characters = this.#characters;
    return copy;
  }

  /** A missing value, '', is not one of the service. */
  bounded(value: string): string {
    if (value === '' || this.#values.has(value)) return value;
    const characters = this.#characters + value.length;
    if (this.#values.size >= this.#limit || characters > this.#limit * CHARACTERS_PER_VALUE) return OTHER;
    this.#values.add(value);
    this.#characters = characters;
    return value;
  }
}

/** Nested, because the strings are shared with the values. */
class Combinations {
  readonly #limit: number;
  readonly #admitted = new Map<string, Map<string, Set<string>>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  withLimit(limit: number): Combinations {
    const copy = new Combinations(limit);
    for (const [first, seconds] of this.#admitted) {
      copy.#admitted.set(first, new Map(Array.from(seconds, ([second, thirds]) => [second, new Set(thirds)])));
    }
    copy.#size = this.#size;
    return copy;
  }

  /** True for the first combinations up to the limit, each time. */
  admit(first: string, second: string, third: string): boolean {
    const seconds = this.#admitted.get(first);
    const thirds = seconds?.get(second);
    if (thirds?.has(third)) return true;
    if (this.#size >= this.#limit) return false;
    this.#size += 1;
    if (thirds) thirds.add(third);
    else if (seconds) seconds.set(second, new Set([third]));
    else this.#admitted.set(first, new Map([[second, new Set([third])]]));
    return true;
  }
}
