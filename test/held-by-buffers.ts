import { setImmediate as nextIteration } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes held by all buffers of this process after a garbage collection. */
export function heldByBuffers(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** Whether nothing holds the object any more; in an event-loop iteration of its own, because a reference that was just made holds it. */
export async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  await nextIteration();
  collectGarbage();
  return reference.deref() === undefined;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
