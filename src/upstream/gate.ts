import { Lanes } from './lanes.ts';
import type { RequestObserver } from './observer.ts';
import { Pace } from './pace.ts';
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
  /** Visitors of different lanes take turns. */
  readonly lane: string;
}

/** Bounds the work under way and how soon one piece may start after another; learns from the service how soon that is. */
export class Gate {
  readonly #options: GateOptions;
  readonly #pace: Pace;
  readonly #waiters = new Lanes<() => void>();
  #inside = 0;
  #alarm: AbortController | undefined;

  constructor(options: GateOptions) {
    const { requestsPerSecond: ceiling, concurrency, observer } = options;
    this.#options = options;
    this.#pace = new Pace({ ceiling, concurrency });
    observer.limited(this.#pace.perSecond);
  }

  /** Runs the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(visitor: Visitor, work: () => Promise<T>): Promise<T> {
    await this.#turn(visitor);
    const begunMs = this.#options.now();
    try {
      const result = await work();
      this.#pace.succeeded();
      return result;
    } catch (error) {
      if (error instanceof RequestFailure && error.throttled) {
        this.#pace.throttled(begunMs, this.#options.now());
        this.#options.observer.throttled();
      }
      throw error;
    } finally {
      this.#options.observer.limited(this.#pace.perSecond);
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
      const waitMs = this.#pace.waitMs(nowMs);
      if (waitMs > 0) {
        this.#admitAfter(waitMs);
        return;
      }
      this.#pace.began(nowMs);
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
