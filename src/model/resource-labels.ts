import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { labelText, NO_LABELS, type Resource } from './resource.ts';

const require = createRequire(import.meta.url);

/** A regular expression that matches whole texts, in time linear to their length. */
export class AnchoredRegExp {
  readonly source: string;
  readonly #compiled: Re2.RE2JS;

  /** Throws the engine's error for an invalid expression. */
  constructor(source: string) {
    // Only where it is used: loading it takes as long as a tenth of the start of Node.
    const { RE2JS }: typeof Re2 = require('re2js');
    this.source = source;
    // As in Prometheus, a dot also matches line breaks.
    this.#compiled = RE2JS.compile(source, RE2JS.DOTALL);
  }

  /** Instructions of the compiled expression: a match takes at most this many steps per character. */
  get size(): number {
    return this.#compiled.programSize();
  }

  matches(text: string): boolean {
    return this.#compiled.testExact(text);
  }
}

/** The fields of a resource that an entry can match, by their names in the configuration. */
const FIELDS = {
  resource_type: 'type',
  product: 'product',
  name: 'name',
  display_name: 'displayName',
  resource_id: 'id',
} as const satisfies Record<string, keyof Resource>;

/** Labels of the resources that match all expressions. */
export interface LabelEntry {
  readonly match: { readonly [Field in 'station' | keyof typeof FIELDS]?: AnchoredRegExp };
  readonly labels: Readonly<Record<string, string>>;
}

type Matched = Pick<Resource, (typeof FIELDS)[keyof typeof FIELDS]>;

/** The configured labels of resources: of each label, the first matching entry determines the value. */
export class ResourceLabels {
  /** The label names of all entries; a resource without a value has ''. */
  readonly names: readonly string[];
  /** Those that can match: two instances with the same entries and names are equal. */
  readonly entries: readonly LabelEntry[];
  readonly #rules: readonly { readonly matches: (resource: Matched) => boolean; readonly labels: [number, string][] }[];
  /** One object per combination of values, so that comparing two of them is cheap. */
  readonly #combinations = new Map<string, Resource['labels']>();

  constructor(entries: readonly LabelEntry[] = [], names = namesOf(entries)) {
    this.entries = entries;
    this.names = names;
    this.#rules = entries.map(({ match, labels }) => ({
      matches: matcher(match),
      labels: Object.entries(labels).map(([name, value]) => [names.indexOf(name), labelText(value)]),
    }));
  }

  /** The entries that can match resources of the station, with the same names. */
  ofStation(station: string): ResourceLabels {
    const entries = this.entries.filter(({ match }) => match.station?.matches(station) ?? true);
    return new ResourceLabels(entries, this.names);
  }

  /** `before`: the same resource when it was labelled before; its labels stay while nothing that is matched changes. */
  labelsOf(resource: Matched, before?: Resource): Resource['labels'] {
    if (this.entries.length === 0) return NO_LABELS;
    if (before && Object.values(FIELDS).every((field) => resource[field] === before[field])) return before.labels;
    const values: (string | undefined)[] = this.names.map(() => undefined);
    for (const { matches, labels } of this.#rules) {
      const open = labels.filter(([at]) => values[at] === undefined);
      if (open.length > 0 && matches(resource)) for (const [at, value] of open) values[at] = value;
    }
    const key = JSON.stringify(values);
    const known = this.#combinations.get(key);
    if (known) return known;
    // Without a prototype: a label may be called `constructor`.
    const combination = Object.create(null);
    for (const [at, name] of this.names.entries()) combination[name] = values[at] ?? '';
    this.#combinations.set(key, combination);
    return combination;
  }
}

function namesOf(entries: readonly LabelEntry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ labels }) => Object.keys(labels)))];
}

function matcher({ station, ...match }: LabelEntry['match']): (resource: Matched) => boolean {
  const tests = Object.entries(match).map(
    ([name, expression]) => [FIELDS[name as keyof typeof FIELDS], expression] as const,
  );
  return (resource) => tests.every(([field, expression]) => expression.matches(resource[field]));
}
