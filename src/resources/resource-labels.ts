import { labelText } from '../model/values.ts';
import type { AnchoredRegExp } from '../text/anchored-regexp.ts';
import type { Resource } from './fields.ts';

/** The fields of a resource that an entry can match, by their names in the configuration. */
const MATCHED_FIELDS = {
  resource_type: 'type',
  product: 'product',
  name: 'name',
  display_name: 'displayName',
  resource_id: 'id',
} as const satisfies Record<string, keyof Resource>;

type Matched = Pick<Resource, (typeof MATCHED_FIELDS)[keyof typeof MATCHED_FIELDS]>;

/** An entry of `resource_labels`: what is configured for the resources that match all expressions. */
export interface LabelEntry {
  readonly match: Readonly<Partial<Record<'station' | keyof typeof MATCHED_FIELDS, AnchoredRegExp>>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly alertable?: boolean;
  /** Of an entry with `alertable`: its index in the configuration. */
  readonly index?: number;
}

/** Whether the entries match one as they match the other, but for a product of its own. */
export function isMatchedLike(a: Matched, b: Matched): boolean {
  return a.id === b.id && a.name === b.name && a.displayName === b.displayName && a.type === b.type;
}

/** What the entries say about a resource. */
type LabelDecision = Pick<Resource, 'labels' | 'exemptBy'>;

const UNLABELLED: LabelDecision = { labels: undefined, exemptBy: undefined };

/** Not the name of a label. */
const EXEMPTION = 'alertable: false';

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
      values: names.map((name) => (labels[name] === undefined ? undefined : labelText(labels[name]))),
    }));
  }

  /** The entries that can match resources of the station, with the same names. */
  ofStation(station: string): ResourceLabels {
    const entries = this.entries.filter(({ match }) => match.station?.matches(station) ?? true);
    return new ResourceLabels(entries, this.names);
  }

  /** All entries that match, whichever decide. */
  matching(resource: Matched): readonly LabelEntry[] {
    return this.entries.filter((_, at) => isMatch(this.#rules[at] as LabelRule, resource));
  }

  /** Those that decide a label of the resource, or whether it is exempt. */
  deciding(resource: Matched): readonly LabelEntry[] {
    const decided = new Set<string>();
    return this.matching(resource).filter(({ labels = {}, alertable }) => {
      const said = [...Object.keys(labels), ...(alertable === undefined ? [] : [EXEMPTION])];
      const first = said.filter((what) => !decided.has(what));
      for (const what of first) decided.add(what);
      return first.length > 0;
    });
  }

  labelled(resource: Matched): LabelDecision {
    if (this.entries.length === 0) return UNLABELLED;
    const values: (string | undefined)[] = this.names.map(() => undefined);
    for (const rule of this.#rules) {
      const isOpen = rule.values.some((value, at) => value !== undefined && values[at] === undefined);
      if (!isOpen || !isMatch(rule, resource)) continue;
      for (const [at, value] of rule.values.entries()) values[at] ??= value;
    }
    return { labels: this.#combination(values), exemptBy: this.#exemption(resource) };
  }

  /** The index of the entry that exempts the resource. */
  #exemption(resource: Matched): number | undefined {
    if (!this.hasExemptions) return undefined;
    const decisive = this.#rules.find((rule) => rule.alertable !== undefined && isMatch(rule, resource));
    return decisive?.alertable === false ? decisive.index : undefined;
  }

  #combination(values: readonly (string | undefined)[]): Resource['labels'] {
    const key = JSON.stringify(values.map((value) => value ?? ''));
    const known = this.#combinations.get(key);
    if (known) return known;
    const combination = Object.fromEntries(this.names.map((name, at) => [name, values[at] ?? '']));
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

function isMatch({ tests }: LabelRule, resource: Matched): boolean {
  return tests.every(([field, expression]) => expression.matches(resource[field]));
}
