import { type FailureReason, ListingFailure } from '../../model/failure.ts';
import type { UpstreamLoad } from '../../model/upstream-load.ts';
import type { RequestObserver } from '../http/observer.ts';
import { RequestFailure } from '../http/request-failure.ts';
import { AdaptiveRate } from './adaptive-rate.ts';
import { CircuitBreaker, type InFlight } from './circuit-breaker.ts';
import { type Refresh, RefreshQueue, type WaitingRefresh } from './refresh-queue.ts';

interface LimiterOptions {
  readonly concurrency: number;
  /** Never exceeded; 0: no ceiling. */
  readonly requestsPerSecond: number;
  /** Of one request; `run` expects its work to enforce it. */
  readonly timeoutMs: number;
  readonly observer: Pick<RequestObserver, 'waiting' | 'waited' | 'throttled' | 'limited'>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Runs once after the delay; returns how to cancel it. */
  readonly schedule: (run: () => void, delayMs: number) => () => void;
}

interface LimitedRequest {
  readonly refresh: Refresh;
  readonly signal: AbortSignal;
  /** The delay of a throttled request before its retry; it keeps its slot, so that no other refresh starts instead. */
  readonly pauseMs?: number;
}

/** How a request was admitted. */
export interface Admission {
  /** Aborts with the caller's signal, or with a RequestFailure of reason `timeout` when the request is overdue and delays others. */
  readonly signal: AbortSignal;
  readonly admittedMs: number;
  /** The station hangs: this is its only request in flight. */
  readonly isProbe: boolean;
}

type Enter = (inFlight: InFlight) => void;

/** Failures without a reply of the service. */
const UNANSWERED: ReadonlySet<FailureReason> = new Set(['timeout', 'network', 'tls', 'internal']);

/** Limits the requests in flight to an upstream and the rate at which they start, and decides which one is next. */
export class RequestLimiter {
  readonly #options: LimiterOptions;
  readonly #rate: AdaptiveRate;
  readonly breaker: CircuitBreaker;
  readonly #queue = new RefreshQueue<Enter>();
  readonly #inFlight = new Set<InFlight>();
  #paused = 0;
  #admissions = 0;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate = new AdaptiveRate({ ceiling: options.requestsPerSecond });
    this.breaker = new CircuitBreaker(options);
    options.observer.limited(this.#rate.perSecond);
  }

  /** No request may start before this time (Retry-After); in the past without a hold. */
  get holdUntilMs(): number {
    return this.#rate.holdUntilMs;
  }

  /** When the service last answered a request other than by throttling. */
  get lastAcceptedMs(): number {
    return this.#rate.lastAcceptedMs;
  }

  get isAtLowestRate(): boolean {
    return this.#rate.isAtFloor;
  }

  load(): UpstreamLoad {
    const nowMs = this.#options.now();
    const { requests, throttled } = this.#rate.statistics(nowMs);
    const { refreshes, sinceMs } = this.#queue.waiting();
    return {
      requestsPerSecond: this.#rate.perSecond,
      holdMs: Math.max(0, this.#rate.holdUntilMs - nowMs),
      recentRequests: requests,
      recentThrottled: throttled,
      waitingRefreshes: refreshes,
      oldestWaitingMs: Math.max(0, nowMs - sinceMs),
      hangingStations: this.breaker.hangingStations,
      typicalLatencyMs: this.breaker.typicalMs,
    };
  }

  /** Runs the work when the request is admitted; rejects with the signal's reason when that aborts before. */
  async run<T>(request: LimitedRequest, work: (admission: Admission) => Promise<T>): Promise<T> {
    const { signal } = request;
    const inFlight = await this.#admission(request);
    const { controller, admittedMs, isProbe } = inFlight;
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    try {
      const result = await work({ signal: controller.signal, admittedMs, isProbe });
      this.#answered(inFlight);
      return result;
    } catch (error) {
      this.#failed(inFlight, error, signal);
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#release(inFlight);
    }
  }

  async #admission({ refresh, signal, pauseMs = 0 }: LimitedRequest): Promise<InFlight> {
    signal.throwIfAborted();
    const { observer, now } = this.#options;
    const sinceMs = now();
    observer.waiting(1);
    try {
      return await new Promise((resolve, reject) => this.#wait({ refresh, signal, pauseMs }, resolve, reject));
    } finally {
      observer.waiting(-1);
      observer.waited((now() - sinceMs) / 1000);
    }
  }

  #wait(
    request: Required<LimitedRequest>,
    resolve: (inFlight: InFlight) => void,
    reject: (reason: unknown) => void,
  ): void {
    const { refresh, signal, pauseMs } = request;
    const enter = (inFlight: InFlight) => {
      signal.removeEventListener('abort', giveUp);
      resolve(inFlight);
    };
    const leaveQueue = () => this.#queue.delete(refresh, enter);
    let leave = leaveQueue;
    const giveUp = () => {
      leave();
      reject(signal.reason);
      this.#admit();
    };
    const enqueue = () => {
      this.#queue.add(refresh, this.breaker.station(refresh.station), enter, this.#options.now());
      this.#admit();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (pauseMs <= 0) {
      enqueue();
      return;
    }
    this.#paused += 1;
    const cancel = this.#options.schedule(() => {
      this.#paused -= 1;
      leave = leaveQueue;
      enqueue();
    }, pauseMs);
    leave = () => {
      this.#paused -= 1;
      cancel();
    };
  }

  /** Admits what the limits allow; a timer is set only while a request waits for time to pass. */
  #admit(mayStart = true): void {
    const nowMs = this.#options.now();
    for (let next = this.#next(nowMs, mayStart); next !== undefined; next = this.#next(nowMs, mayStart)) {
      const wakeMs = this.#isFull
        ? this.breaker.nextOverdueMs(this.#inFlight, nowMs)
        : nowMs + this.#rate.waitMs(nowMs);
      if (wakeMs === undefined) break;
      if (wakeMs > nowMs) {
        this.#wakeAfter(wakeMs - nowMs, nowMs);
        return;
      }
      const { station, refresh } = next;
      const isStart = next.startOrder === undefined;
      const controller = new AbortController();
      const inFlight = {
        order: this.#admissions++,
        station,
        isProbe: station.isHanging,
        admittedMs: nowMs,
        controller,
      };
      this.#inFlight.add(inFlight);
      this.#rate.started(nowMs);
      this.breaker.admitted(inFlight);
      const enter = this.#queue.take(next);
      this.#queue.stationChanged(station);
      enter?.(inFlight);
      if (isStart) refresh.started();
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #next(nowMs: number, mayStart: boolean): WaitingRefresh<Enter> | undefined {
    const next = this.#queue.nextRequest();
    if (next?.startOrder === undefined && !mayStart) return undefined;
    const probe = this.#queue.nextProbe();
    if (probe && this.breaker.mayProbe(nowMs, next !== undefined)) return probe;
    const hasSlot = this.#isFull || this.#inFlight.size + this.#paused < this.#options.concurrency;
    return next?.startOrder !== undefined || hasSlot ? next : undefined;
  }

  #wakeAfter(waitMs: number, nowMs: number): void {
    const atMs = nowMs + Math.ceil(waitMs);
    if (this.#timer && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const wake = () => {
      this.#timer = undefined;
      this.#review();
      this.#admit();
    };
    this.#timer = { atMs, cancel: this.#options.schedule(wake, atMs - nowMs) };
  }

  get #isFull(): boolean {
    return this.#inFlight.size >= this.#options.concurrency;
  }

  #answered(inFlight: InFlight): void {
    const nowMs = this.#options.now();
    this.#rate.accepted(inFlight.admittedMs, nowMs);
    this.breaker.answered(inFlight, nowMs);
  }

  #failed(inFlight: InFlight, error: unknown, signal: AbortSignal): void {
    const nowMs = this.#options.now();
    if (error instanceof RequestFailure && error.throttled) {
      this.#rate.throttled({ startedMs: inFlight.admittedMs, nowMs, retryAfterMs: error.retryAfterMs });
      this.breaker.throttled(inFlight);
      this.#options.observer.throttled();
    } else if (error instanceof ListingFailure && !UNANSWERED.has(error.reason)) {
      this.#answered(inFlight);
    } else {
      this.#rate.failed(inFlight.admittedMs, nowMs);
      if (signal.aborted) this.breaker.cancelled(inFlight, nowMs);
      else if (error instanceof ListingFailure && error.reason === 'timeout') this.breaker.timedOut(inFlight);
    }
  }

  #release(inFlight: InFlight): void {
    this.#inFlight.delete(inFlight);
    this.breaker.ended(inFlight, this.#options.now());
    this.#queue.stationChanged(inFlight.station);
    this.#options.observer.limited(this.#rate.perSecond);
    this.#admit(false);
    // The refresh that received the reply may request its next page first.
    this.#options.schedule(() => this.#admit(), 0);
    this.#review();
  }

  /** Aborts overdue requests while others wait. */
  #review(): void {
    if (this.#isFull && this.#queue.nextRequest() !== undefined)
      this.breaker.review(this.#inFlight, this.#options.now());
  }
}
