/** Runs tasks one per event-loop iteration, so that I/O between them waits for one task at most. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => T): Promise<T> {
    const done = this.#last.then(nextIteration).then(task);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Handles parts one after another, as many in one iteration as have about ROWS_PER_TASK rows together. */
  async forEach<Part extends readonly unknown[]>(parts: readonly Part[], handle: (part: Part) => void): Promise<void> {
    for (let next = 0; next < parts.length; ) {
      next = await this.run(() => {
        let at = next;
        for (let rows = 0; rows < ROWS_PER_TASK && at < parts.length; at += 1) {
          const part = parts[at] as Part;
          handle(part);
          rows += part.length;
        }
        return at;
      });
    }
  }
}

const ROWS_PER_TASK = 1000;

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
