import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { type Environment, substitute } from './environment.ts';
import type { ConfigPath } from './problem.ts';
import { isMergeKey, keyText, startOf } from './yaml-node.ts';
import type { Mistake } from './yaml-source.ts';

/** A mistake whose path in the configuration is known. */
export interface Finding extends Mistake {
  readonly path: ConfigPath;
  /** The document cannot be turned into plain data. */
  readonly fatal?: boolean;
}

interface Walk {
  readonly env: Environment | undefined;
  /** Those met so far: an alias reaches back only. */
  readonly anchors: Map<string, Node>;
}

/** Puts the environment, if any, into the document's strings, and tells what plain data would hide or fail on. */
export function checkDocument(document: Document.Parsed, env: Environment | undefined): readonly Finding[] {
  return [...nodeFindings(document.contents, [], { env, anchors: new Map() })];
}

function* nodeFindings(node: unknown, path: ConfigPath, walk: Walk): Iterable<Finding> {
  if (!isNode(node)) return;
  if (isAlias(node)) {
    if (walk.anchors.has(node.source)) return;
    const message = 'found an alias without an anchor before it, expected a value; quote a string that begins with an asterisk';
    yield { path, offset: startOf(node), message, fatal: true };
    return;
  }
  keepAnchor(node, walk);
  if (isScalar(node)) yield* scalarFindings(node, path, walk.env);
  if (isMap(node)) yield* mapFindings(node, path, walk);
  if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* nodeFindings(item, [...path, index], walk);
}

function keepAnchor(node: Scalar | YAMLMap | YAMLSeq, { anchors }: Walk): void {
  if (node.anchor !== undefined) anchors.set(node.anchor, node);
}

function* scalarFindings(scalar: Scalar, path: ConfigPath, env: Environment | undefined): Iterable<Finding> {
  if (env === undefined || typeof scalar.value !== 'string') return;
  const { text, problems } = substitute(scalar.value, env);
  scalar.value = text;
  for (const message of problems) yield { path, offset: startOf(scalar), message };
}

function* mapFindings(map: YAMLMap, path: ConfigPath, walk: Walk): Iterable<Finding> {
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const name = keyText(key);
    const keyPath = [...path, name];
    keepAnchor(key as Scalar, walk);
    yield* nodeFindings(value, keyPath, walk);
    if (isMergeKey(key)) {
      if (isMergeSource(value, walk)) continue;
      yield { path: keyPath, offset: startOf(value, key), message: 'found no mapping to merge, expected an alias of one', fatal: true };
    } else if (name === '__proto__') {
      yield { path: keyPath, offset: startOf(key), message: 'this name cannot be used, expected another one' };
    } else if (seen.has(name)) {
      // A name without a value may be a part of a secret that holds a comma.
      const shown = (isScalar(value) ? value.value : value) === null ? path : keyPath;
      yield { path: shown, offset: startOf(key), message: 'the key stands here a second time, expected only once' };
    }
    seen.add(name);
  }
}

function isMergeSource(value: unknown, { anchors }: Walk): boolean {
  const source = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node);
  const merged = source(value);
  return isMap(merged) || (isSeq(merged) && merged.items.every((item) => isMap(source(item))));
}
