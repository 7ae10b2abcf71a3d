/** Runs tasks one per event-loop iteration, so that I/O between them waits for one task at most. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => T): Promise<T> {
    const done = this.#last.then(nextIteration).then(task);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
