import { AdaptiveRate } from './adaptive-rate.ts';
import type { RequestObserver } from './observer.ts';
import { RequestFailure } from './request-failure.ts';

interface GateOptions {
  readonly concurrency: number;
  /** Never exceeded, and not reached while the service says that it is too much; 0: no ceiling. */
  readonly requestsPerSecond: number;
  readonly observer: Pick<RequestObserver, 'waiting' | 'waited' | 'throttled' | 'limited'>;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Who wants in. */
interface Visitor {
  readonly signal: AbortSignal;
  /** Visitors of different lanes take tasks. */
  readonly lane: string;
}

/** Bounds the work under way and how soon one piece may start after another; learns from the service how soon that is. */
export class RequestLimiter {
  readonly #options: GateOptions;
  readonly #rate: AdaptiveRate;
  readonly #waiters = new FairQueue<() => void>();
  #inside = 0;
  #alarm: AbortController | undefined;

  constructor(options: GateOptions) {
    const { requestsPerSecond: ceiling, concurrency, observer } = options;
    this.#options = options;
    this.#rate = new AdaptiveRate({ ceiling, concurrency });
    observer.limited(this.#rate.perSecond);
  }

  /** Runs the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(visitor: Visitor, work: () => Promise<T>): Promise<T> {
    await this.#turn(visitor);
    const begunMs = this.#options.now();
    try {
      const result = await work();
      this.#rate.succeeded();
      return result;
    } catch (error) {
      if (error instanceof RequestFailure && error.throttled) {
        this.#rate.throttled(begunMs, this.#options.now());
        this.#options.observer.throttled();
      }
      throw error;
    } finally {
      this.#options.observer.limited(this.#rate.perSecond);
      this.#inside -= 1;
      this.#admit();
    }
  }

  #turn({ signal, lane }: Visitor): Promise<void> {
    signal.throwIfAborted();
    const { observer, now } = this.#options;
    const sinceMs = now();
    observer.waiting(1);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(lane, enter);
        signal.removeEventListener('abort', giveUp);
        observer.waiting(-1);
        observer.waited(Math.max(0, now() - sinceMs) / 1000);
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
      this.#waiters.add(lane, enter);
      this.#admit();
    });
  }

  /** Lets in whom the limits allow; an alarm stays set only while somebody waits for nothing but the time. */
  #admit(): void {
    this.#alarm?.abort();
    this.#alarm = undefined;
    const nowMs = this.#options.now();
    while (!this.#waiters.isEmpty && this.#inside < this.#options.concurrency) {
      const waitMs = this.#rate.waitMs(nowMs);
      if (waitMs > 0) {
        this.#admitAfter(waitMs);
        return;
      }
      this.#rate.began(nowMs);
      this.#inside += 1;
      this.#waiters.take()?.();
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

/** Queues that take tasks: however many wait in one of them, the first of another waits for one of each at most. */
export class FairQueue<T> {
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
