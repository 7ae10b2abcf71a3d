import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isObject } from '../model/resource.ts';
import type { ConfigPath } from './problem.ts';
import { isMergeKey, keyText, MAX_DEPTH, startOf, type YamlProblem } from './yaml-document.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ContentProblem extends YamlProblem {
  readonly path: ConfigPath;
}

/** The values that all aliases of a file may add; aliases of aliases multiply. */
const MAX_ALIASED_VALUES = 1_000_000;

/** The plain data of a node, with its size and depth after aliases are expanded. */
interface Expansion {
  readonly node?: Node;
  readonly value: unknown;
  readonly values: number;
  readonly depth: number;
}

/** Stands for an alias that cannot be expanded. */
const UNUSABLE: Expansion = { value: undefined, values: 0, depth: 0 };

/** Converts a document to plain data in linear time: substitutes environment variables, expands aliases and merge keys. */
export class YamlContent {
  readonly problems: ContentProblem[] = [];
  /** Undefined when an alias or a merge key is invalid. */
  readonly data: { readonly raw: unknown } | undefined;
  readonly #root: unknown;
  readonly #env: Environment | undefined;
  /** The preceding anchors by name; undefined inside the anchor's own value. */
  readonly #anchors = new Map<string, Expansion | undefined>();
  readonly #targets = new Map<unknown, Node | undefined>();
  readonly #pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  readonly #path: (string | number)[] = [];
  readonly #substituted = new Set<Scalar>();
  #aliasedValues = 0;
  #isUsable = true;

  /** Without `env`, no variables are substituted. */
  constructor(root: unknown, env: Environment | undefined) {
    this.#root = root;
    this.#env = env;
    const { value } = this.#expand(root);
    this.data = this.#isUsable ? { raw: value } : undefined;
  }

  /** The offset of the value at the path, or of its key; that of the enclosing mapping when it is missing. */
  locate(path: ConfigPath, atKey = false): number {
    return this.#find(path, atKey).offset;
  }

  /** Whether the string at the path contains environment variables. */
  isSubstituted(path: ConfigPath): boolean {
    const node = this.#resolve(this.#find(path, false).node);
    return isScalar(node) && this.#substituted.has(node);
  }

  #find(path: ConfigPath, atKey: boolean): { readonly offset: number; readonly node: unknown } {
    let node = this.#root;
    let offset = startOf(node);
    for (const [depth, part] of path.entries()) {
      const parent = this.#resolve(node);
      const pair = isMap(parent) ? this.#pairsOf(parent).get(String(part)) : undefined;
      node = isSeq(parent) ? parent.items[Number(part)] : pair?.value;
      if (pair === undefined && node === undefined) return { offset, node };
      offset = atKey && depth === path.length - 1 ? startOf(pair?.key, node) : startOf(node, pair?.key);
    }
    return { offset, node };
  }

  #expand(node: unknown): Expansion {
    if (isAlias(node)) return this.#expandAlias(node);
    if (isMap(node)) return this.#anchored(node, () => this.#expandMap(node));
    if (isSeq(node)) return this.#anchored(node, () => this.#expandSeq(node));
    if (isScalar(node)) return this.#anchored(node, () => this.#expandScalar(node));
    return { value: null, values: 1, depth: 0 };
  }

  #anchored({ anchor }: Scalar | YAMLMap | YAMLSeq, expand: () => Expansion): Expansion {
    if (anchor === undefined) return expand();
    this.#anchors.set(anchor, undefined);
    const expansion = expand();
    // An anchor of the same name inside the value comes later.
    if (this.#anchors.get(anchor) === undefined) this.#anchors.set(anchor, expansion);
    return expansion;
  }

  #expandAlias(alias: Alias): Expansion {
    const target = this.#anchors.get(alias.source);
    if (target === undefined)
      return this.#unusable(alias, this.#anchors.has(alias.source) ? INSIDE_ITSELF : WITHOUT_ANCHOR);
    if (this.#path.length + target.depth > MAX_DEPTH) return this.#unusable(alias, TOO_DEEP);
    if (this.#aliasedValues > MAX_ALIASED_VALUES) return UNUSABLE;
    this.#aliasedValues += target.values;
    if (this.#aliasedValues > MAX_ALIASED_VALUES) return this.#unusable(alias, tooLarge());
    this.#targets.set(alias, target.node);
    return target;
  }

  #expandScalar(node: Scalar): Expansion {
    const { value } = node;
    if (this.#env === undefined || typeof value !== 'string') return { node, value, values: 1, depth: 0 };
    const { text, problems } = substitute(value, this.#env);
    for (const message of problems) this.#report(startOf(node), message);
    if (text !== value) this.#substituted.add(node);
    return { node, value: text, values: 1, depth: 0 };
  }

  #expandSeq(node: YAMLSeq): Expansion {
    const items = node.items.map((item, index) => this.#at(index, () => this.#expand(item)));
    return { node, value: items.map(({ value }) => value), ...sizeOf(items) };
  }

  #expandMap(node: YAMLMap): Expansion {
    const object: Record<string, unknown> = {};
    const seen = new Set<string>();
    const values = node.items.map(({ key, value }) => {
      const name = keyText(key);
      const { anchor } = key as Scalar;
      if (anchor !== undefined) this.#anchors.set(anchor, { node: key as Scalar, value: name, values: 1, depth: 0 });
      return this.#at(name, () => {
        const expansion = this.#expand(value);
        if (isMergeKey(key)) {
          this.#merge(object, expansion.value, startOf(value, key));
        } else if (name === '__proto__') {
          this.#report(startOf(key), 'reserved key, expected another one');
        } else {
          if (seen.has(name)) this.#reportDuplicate(startOf(key), expansion.value);
          seen.add(name);
          object[name] = expansion.value;
        }
        return expansion;
      });
    });
    return { node, value: object, ...sizeOf(values) };
  }

  /** Keys that the mapping already has override merged ones. */
  #merge(object: Record<string, unknown>, merged: unknown, offset: number): void {
    const sources = Array.isArray(merged) ? merged : [merged];
    for (const source of sources.filter((value) => value !== undefined)) {
      if (!isObject(source)) {
        this.#isUsable = false;
        this.#report(offset, 'expected a mapping to merge, or an alias of one');
        return;
      }
      for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(object, key)) object[key] = value;
    }
  }

  #at<T>(part: string | number, work: () => T): T {
    this.#path.push(part);
    const result = work();
    this.#path.pop();
    return result;
  }

  #report(offset: number, message: string): void {
    this.problems.push({ offset, path: [...this.#path], message });
  }

  #reportDuplicate(offset: number, value: unknown): void {
    // A key without a value may be part of a secret that contains a comma.
    const path = value === null ? this.#path.slice(0, -1) : [...this.#path];
    this.problems.push({ offset, path, message: 'duplicate key, expected only once' });
  }

  #unusable(alias: Alias, message: string): Expansion {
    this.#isUsable = false;
    this.#report(startOf(alias), message);
    return UNUSABLE;
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node;
  }

  /** The pairs of a mapping by key: its own keys override merged ones, and the last of duplicate keys wins. */
  #pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#pairs.get(map);
    if (known !== undefined) return known;
    const pairs = new Map(map.items.filter(({ key }) => !isMergeKey(key)).map((pair) => [keyText(pair.key), pair]));
    for (const { value } of map.items.filter(({ key }) => isMergeKey(key))) {
      const merged = this.#resolve(value);
      for (const item of isSeq(merged) ? merged.items : [merged]) {
        for (const [key, pair] of this.#pairsOf(this.#resolve(item) as YAMLMap))
          if (!pairs.has(key)) pairs.set(key, pair);
      }
    }
    this.#pairs.set(map, pairs);
    return pairs;
  }
}

const WITHOUT_ANCHOR =
  'alias without a preceding anchor, expected a value; quote a string that starts with an asterisk';
const INSIDE_ITSELF = 'alias inside the value of its own anchor, expected an anchor that precedes it';
const TOO_DEEP = `alias expands to more than ${MAX_DEPTH} nested levels, expected fewer`;
/** Not a constant: formatting the number loads the data of locales, which takes a while at start. */
const tooLarge = () => `aliases expand to more than ${MAX_ALIASED_VALUES.toLocaleString('en')} values, expected fewer`;

function sizeOf(children: readonly Expansion[]): Pick<Expansion, 'values' | 'depth'> {
  let values = 1;
  let depth = 0;
  for (const child of children) {
    values += child.values;
    depth = Math.max(depth, child.depth);
  }
  return { values, depth: depth + 1 };
}

/** Replaces each `${NAME}` with the environment variable and each `$${` with a literal `${`. */
export function substitute(
  text: string,
  env: Environment,
): { readonly text: string; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const replaced = text.replaceAll(/\$\$\{|\$\{(?:([A-Za-z_]\w*)\})?/g, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) return value;
    problems.push(
      name === undefined ? `expected \${NAME}, or $\${ for a literal \${` : `environment variable ${name} is not set`,
    );
    return match;
  });
  return { text: replaced, problems };
}
