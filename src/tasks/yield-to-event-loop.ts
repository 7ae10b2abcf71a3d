import { setImmediate } from 'node:timers';

/** Callers continue in the order in which they yielded. One queue, because the process has one event loop. */
const waiting: (() => void)[] = [];

/** Lets the events that have arrived be handled before the caller continues: one caller at a time, or many would block them together. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueNext);
  });
}

/** An immediate of an immediate belongs to the next iteration of the event loop. */
function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
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
