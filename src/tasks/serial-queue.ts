export class SerialQueue {
  #latest: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#latest.then(work);
    this.#latest = done.catch(() => undefined);
    return done;
  }
}
