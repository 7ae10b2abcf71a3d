/** Lets pieces of work run one per turn of the event loop, so that what waits between them is a piece at most. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T): Promise<T> {
    const done = this.#last.then(nextTurn).then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
