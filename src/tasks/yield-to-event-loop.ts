import { setImmediate } from 'node:timers/promises';

/** Lets the events that have arrived be handled before the caller continues. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}

/** Rows that are handled without a pause: those of a large page. */
const BLOCK_ROWS = 1000;

/** Handles the parts in order, and yields to the event loop after every thousand rows or so. */
export async function forEachPart<Part extends readonly unknown[]>(
  parts: readonly Part[],
  handle: (part: Part, index: number) => void,
): Promise<void> {
  let rows = 0;
  for (const [index, part] of parts.entries()) {
    if (rows >= BLOCK_ROWS) {
      await yieldToEventLoop();
      rows = 0;
    }
    handle(part, index);
    rows += part.length;
  }
}
