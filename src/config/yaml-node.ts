import { isNode, isScalar, type Scalar } from 'yaml';

/** The offset of the first of these nodes that has one. */
export function startOf(...nodes: readonly unknown[]): number {
  for (const node of nodes) {
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** A document is read only when all its keys are scalars. */
export function keyText(key: unknown): string {
  return String((key as Scalar).value);
}

/** `<<`, which takes in the keys of another mapping; in quotes it is a key like any other. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
