import type { RequestObserver } from './observer.ts';

interface GateOptions {
  readonly concurrency: number;
  /** 0: no limit. */
  readonly requestsPerSecond: number;
  readonly observer: Pick<RequestObserver, 'waiting'>;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Bounds the work under way, and how soon one piece may start after another; first come, first served. */
export class Gate {
  readonly #options: GateOptions;
  readonly #intervalMs: number;
  /** What lets each waiter in, in the order of arrival. */
  readonly #queue = new Set<() => void>();
  #inside = 0;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #alarm: AbortController | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#intervalMs = options.requestsPerSecond > 0 ? 1000 / options.requestsPerSecond : 0;
  }

  /** Runs the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#admit();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#options.observer.waiting(1);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(enter);
        signal.removeEventListener('abort', giveUp);
        this.#options.observer.waiting(-1);
      };
      const enter = () => {
        leave();
        resolve();
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
        this.#admit();
      };
      signal.addEventListener('abort', giveUp);
      this.#queue.add(enter);
      this.#admit();
    });
  }

  /** Lets in whom the limits allow; an alarm stays set only while somebody waits for nothing but the time. */
  #admit(): void {
    this.#alarm?.abort();
    this.#alarm = undefined;
    for (const enter of this.#queue) {
      if (this.#inside >= this.#options.concurrency) return;
      const nowMs = this.#options.now();
      // A clock set back must not stretch the wait beyond one interval.
      this.#lastStartMs = Math.min(this.#lastStartMs, nowMs);
      const waitMs = this.#lastStartMs + this.#intervalMs - nowMs;
      if (waitMs > 0) {
        this.#admitAfter(waitMs);
        return;
      }
      this.#lastStartMs = nowMs;
      this.#inside += 1;
      enter();
    }
  }

  #admitAfter(waitMs: number): void {
    this.#alarm = new AbortController();
    this.#options.sleep(Math.ceil(waitMs), this.#alarm.signal).then(
      () => this.#admit(),
      () => undefined,
    );
  }
}
