/** Queues that take turns: however many wait in one of them, the first of another waits for one of each at most. */
export class Lanes<T> {
  /** By whose turn it is; none of them is empty. */
  readonly #lanes = new Map<string, Set<T>>();

  add(name: string, item: T): void {
    const lane = this.#lanes.get(name) ?? new Set();
    this.#lanes.set(name, lane.add(item));
  }

  delete(name: string, item: T): void {
    const lane = this.#lanes.get(name);
    lane?.delete(item);
    if (lane?.size === 0) this.#lanes.delete(name);
  }

  /** Takes out whose turn it is, and the next turn is another lane's. */
  take(): T | undefined {
    for (const [name, lane] of this.#lanes) {
      for (const item of lane) {
        lane.delete(item);
        this.#lanes.delete(name);
        if (lane.size > 0) this.#lanes.set(name, lane);
        return item;
      }
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const lane of this.#lanes.values()) yield* lane;
  }
}
