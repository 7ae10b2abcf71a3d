/** A clock that only advances explicitly; sleeps resolve when their time is reached. */
export class ManualClock {
  nowMs: number;
  readonly #sleepers = new Set<{ readonly wakeMs: number; readonly wake: () => void }>();

  constructor(startMs = 0) {
    this.nowMs = startMs;
  }

  readonly now = (): number => this.nowMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = { wakeMs: this.nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });

  get sleepers(): number {
    return this.#sleepers.size;
  }

  async advance(ms: number): Promise<void> {
    await settled();
    this.nowMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeMs > this.nowMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
    await settled();
  }
}

/** Resolves after all pending promise callbacks. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
