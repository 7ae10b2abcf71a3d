import { type AnchoredRegExp, MAX_AUTOMATON_STEPS } from '../text/anchored-regexp.ts';
import { labelText, type Resource } from './resource.ts';

/** Steps of one match, at most about 25 milliseconds: the largest expression on a text of 512 characters, or half of it on the longest. */
const MAX_STEPS = 512_000;

/** The value of a label when an expression that decides about it would take too long on a text of the resource. */
export const NOT_MATCHED = '(not matched)';

/** The fields of a resource that an entry can match, by their names in the configuration. */
const MATCHED_FIELDS = {
  resource_type: 'type',
  product: 'product',
  name: 'name',
  display_name: 'displayName',
  resource_id: 'id',
} as const satisfies Record<string, keyof Resource>;

/** What is configured for the resources that match all expressions. */
export interface LabelEntry {
  readonly match: { readonly [Field in 'station' | keyof typeof MATCHED_FIELDS]?: AnchoredRegExp };
  readonly labels?: Readonly<Record<string, string>>;
  /** false exempts the resources from alert rules, true prevents that a later entry does. */
  readonly alertable?: boolean;
  /** Of an entry with `alertable`: its index in the configuration. */
  readonly index?: number;
}

type Matched = Pick<Resource, (typeof MATCHED_FIELDS)[keyof typeof MATCHED_FIELDS]>;

/** What the entries say about a resource. */
export type Labelled = Pick<Resource, 'labels' | 'exemptBy'>;

export const UNLABELLED: Labelled = { labels: undefined, exemptBy: undefined };

interface LabelRule {
  readonly alertable: boolean | undefined;
  readonly index: number | undefined;
  readonly tests: readonly (readonly [field: keyof Matched, expression: AnchoredRegExp])[];
  /** By the index of the label's name; undefined for a label that the entry does not have. */
  readonly values: readonly (string | undefined)[];
}

/** The configured labels and exemptions of resources: for each label, and for `alertable`, the first matching entry that has it decides. */
export class ResourceLabels {
  /** The label names of all entries; a resource without a value has ''. */
  readonly names: readonly string[];
  /** Those that can match: two instances with the same entries and names are equal. */
  readonly entries: readonly LabelEntry[];
  /** Whether a resource may be exempt from alert rules. */
  readonly hasExemptions: boolean;
  readonly #rules: readonly LabelRule[];
  /** One object per combination of values, so that comparing two of them is cheap. */
  readonly #combinations = new Map<string, Resource['labels']>();

  constructor(entries: readonly LabelEntry[] = [], names = labelNamesOf(entries)) {
    this.entries = entries;
    this.names = names;
    this.hasExemptions = entries.some(({ alertable }) => alertable === false);
    this.#rules = entries.map(({ match, labels = {}, alertable, index }) => ({
      alertable,
      index,
      tests: testsOf(match),
      values: names.map((name) => (Object.hasOwn(labels, name) ? labelText(labels[name] as string) : undefined)),
    }));
  }

  /** The entries that can match resources of the station, with the same names. */
  ofStation(station: string): ResourceLabels {
    const entries = this.entries.filter(({ match }) => match.station?.matches(station) ?? true);
    return new ResourceLabels(entries, this.names);
  }

  labelled(resource: Matched): Labelled {
    const steps = this.labelling(resource);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  }

  /** Labels a resource and yields between expressions that may take long, so that other events can be handled then. */
  *labelling(resource: Matched): Generator<void, Labelled> {
    if (this.entries.length === 0) return UNLABELLED;
    const values: (string | undefined)[] = this.names.map(() => undefined);
    const sinceYield = { steps: 0 };
    for (const rule of this.#rules) {
      const isOpen = rule.values.some((value, at) => value !== undefined && values[at] === undefined);
      if (!isOpen) continue;
      const match = yield* matching(rule, resource, sinceYield);
      if (match === 'no match') continue;
      for (const [at, value] of rule.values.entries()) {
        const isTooLong = value !== undefined && match === 'too long';
        values[at] ??= isTooLong ? NOT_MATCHED : value;
      }
    }
    const exemptBy = this.hasExemptions ? yield* this.#exemption(resource, sinceYield) : undefined;
    return { labels: this.#combination(values), exemptBy };
  }

  /** The index of the entry that exempts the resource. One that would take too long does not: a missing alert rule must not be hidden. */
  *#exemption(resource: Matched, sinceYield: { steps: number }): Generator<void, number | undefined> {
    for (const rule of this.#rules) {
      if (rule.alertable === undefined) continue;
      const match = yield* matching(rule, resource, sinceYield);
      if (match !== 'no match') return match === 'match' && !rule.alertable ? rule.index : undefined;
    }
    return undefined;
  }

  #combination(values: readonly (string | undefined)[]): Resource['labels'] {
    const key = JSON.stringify(values.map((value) => value ?? ''));
    const known = this.#combinations.get(key);
    if (known) return known;
    // Without a prototype: a label may be called `constructor`.
    const combination = Object.create(null);
    for (const [at, name] of this.names.entries()) combination[name] = values[at] ?? '';
    this.#combinations.set(key, combination);
    return combination;
  }
}

function labelNamesOf(entries: readonly LabelEntry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ labels = {} }) => Object.keys(labels)))];
}

function testsOf({ station, ...match }: LabelEntry['match']): LabelRule['tests'] {
  return Object.entries(match).map(
    ([name, expression]) => [MATCHED_FIELDS[name as keyof typeof MATCHED_FIELDS], expression] as const,
  );
}

/** `too long`: an expression would take too long, and no other one decides. `sinceYield` has the steps since it yielded last. */
function* matching(
  { tests }: LabelRule,
  resource: Matched,
  sinceYield: { steps: number },
): Generator<void, 'match' | 'no match' | 'too long'> {
  let isDecided = true;
  for (const [field, expression] of tests) {
    const steps = expression.stepsFor(resource[field]);
    if (steps > MAX_STEPS) {
      isDecided = false;
      continue;
    }
    if (sinceYield.steps > 0 && sinceYield.steps + steps > MAX_AUTOMATON_STEPS) {
      yield;
      sinceYield.steps = 0;
    }
    sinceYield.steps += steps;
    if (!expression.matches(resource[field])) return 'no match';
  }
  return isDecided ? 'match' : 'too long';
}
