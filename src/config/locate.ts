import { type Document, isAlias, isMap, isSeq, type Pair } from 'yaml';
import type { ConfigPath } from './problem.ts';
import { isMergeKey, keyText, startOf } from './yaml-node.ts';

/** The offset at which the path's value stands, or its key; of the mapping that should hold it when it is missing. */
export function locate(document: Document.Parsed, path: ConfigPath, atKey = false): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, part] of path.entries()) {
    const holder = resolve(document, node);
    const pair = findPair(document, holder, String(part));
    node = isSeq(holder) ? holder.items[Number(part)] : pair?.value;
    if (pair === undefined && node === undefined) return offset;
    offset = atKey && depth === path.length - 1 ? startOf(pair?.key, node) : startOf(node, pair?.key);
  }
  return offset;
}

function resolve(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** A mapping's own keys come before merged ones; of a key that stands twice the last one counts. */
function findPair(document: Document.Parsed, map: unknown, key: string): Pair | undefined {
  if (!isMap(map)) return undefined;
  const own = map.items.findLast((pair) => keyText(pair.key) === key && !isMergeKey(pair.key));
  if (own !== undefined) return own;
  for (const { value } of map.items.filter((pair) => isMergeKey(pair.key))) {
    const merged = resolve(document, value);
    for (const source of isSeq(merged) ? merged.items : [merged]) {
      const pair = findPair(document, resolve(document, source), key);
      if (pair !== undefined) return pair;
    }
  }
  return undefined;
}
