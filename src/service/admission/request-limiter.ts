import type { UpstreamLoad } from '../../model/upstream-load.ts';
import { delayed, type Schedule, untilAborted } from '../../tasks/until-aborted.ts';
import { RequestFailure } from '../request-failure.ts';
import type { RequestObserver } from '../request-observer.ts';
import { AdaptiveRate } from './adaptive-rate.ts';
import { type QueuedRefresh, RefreshQueue, type WaitingRefresh } from './refresh-queue.ts';
import {
  areCredentialsRejected,
  isAccepted,
  isStationUnavailable,
  isUnavailable,
  mayAccept,
  type PendingRequest,
  type RequestResult,
  requestResult,
  type StationRefusals,
  throttledBefore,
  UNAVAILABLE_MS,
  UpstreamReplies,
} from './upstream-replies.ts';

interface LimiterOptions {
  readonly concurrency: number;
  /** Never exceeded; 0: no ceiling. */
  readonly requestsPerSecond: number;
  readonly observer: Partial<RequestObserver>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly schedule: Schedule;
}

/** A request, from its admission on. */
interface Work<Prepared, Value> {
  /** Obtains what the request needs, such as credentials: what fails here is no reply of the service. */
  readonly prepare: () => Promise<Prepared>;
  readonly send: (prepared: Prepared) => Promise<Value>;
}

/** A request that was admitted, and failed outside this process. */
export interface FailedRequest {
  readonly failure: RequestFailure;
  /** undefined unless the failure means that there are too many requests. */
  readonly throttling: ThrottlingState | undefined;
  /** The station hung: this was its only request in flight. */
  readonly isHanging: boolean;
}

export interface ThrottlingState {
  /** The upstream has accepted a request recently: it is not unavailable. */
  readonly isAccepting: boolean;
  /** Requests are throttled even at the lowest rate. */
  readonly isAtLowestRate: boolean;
  /** The upstream has no other station, whose requests would show that the service accepts some. */
  readonly isLone: boolean;
}

/** An admitted request. */
interface InFlight extends PendingRequest {
  readonly refresh: QueuedRefresh;
}

/** Admits a waiting request, or ends it because no request is accepted. */
type Enter = (admission: InFlight | RequestFailure) => void;

/** Stations that hang share at most a quarter of the capacity. */
const HANGING_SHARE = 1 / 4;

/** While the service is unavailable requests wait for each other, so that those of the stations that were tried least recently are sent. */
const GATHER_MS = 1000;

/** Between the reply that begins a pause and the delay before its retry, which is as long, time passes. */
const PAUSE_TOLERANCE_MS = 100;

/** Longer than the window in which most services count: until then, a service that throttles everything may only have used up its quota. */
const ACCEPTING_MS = 75_000;

/** Limits the requests in flight to an upstream and the rate at which they start, and decides which one is next. */
export class RequestLimiter {
  readonly #options: LimiterOptions;
  readonly #queue = new RefreshQueue<Enter>();
  readonly #inFlight = new Set<InFlight>();
  readonly #maxHanging: number;
  #rate = new AdaptiveRate();
  #replies = new UpstreamReplies();
  /** Throttled requests before their retries. */
  #delayed = 0;
  /** Until then other requests are admitted before those of hanging stations. */
  #othersFirstUntilMs = Number.NEGATIVE_INFINITY;
  /** The status of the latest reply that was throttling. */
  #throttledBy: number | undefined;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate.ceiling = options.requestsPerSecond;
    this.#maxHanging = Math.max(1, Math.floor(options.concurrency * HANGING_SHARE));
  }

  /** What the replies so far say of each station. */
  get stations(): Pick<UpstreamReplies, 'isHanging' | 'hasReplied' | 'retainStations'> {
    return this.#replies;
  }

  /** No request may start before this time (Retry-After); in the past without a pause. */
  get pausedUntilMs(): number {
    // The pause of a service that is unavailable ends early when it accepts a request, unlike those of the rate.
    return Math.max(this.#rate.pauses.untilMs, this.#replies.upstream.refusals?.pausedUntilMs ?? 0);
  }

  /** The latest reply of a service that is unavailable: it accepts nothing. undefined: it may accept requests. */
  get unavailable(): RequestFailure | undefined {
    const { upstream } = this.#replies;
    return isUnavailable(upstream, this.#inFlight, this.#options.now()) ? upstream.refusals?.latest : undefined;
  }

  /** The service accepts less than the configuration allows. */
  get isThrottled(): boolean {
    return this.#rate.perSecond < (this.#options.requestsPerSecond || Number.POSITIVE_INFINITY);
  }

  /** The status of the latest reply that lowered the rate or pauses the upstream; undefined: none did. */
  get throttledBy(): number | undefined {
    return this.#throttledBy;
  }

  /**
   * Whether requests of the station may be answered before that time: not if the station hangs, or `Retry-After` pauses the upstream, unless
   * the service is unavailable, when they fail at once.
   */
  mayAnswer(station: string, byMs: number): boolean {
    return !this.#replies.isHanging(station) && (this.unavailable !== undefined || this.pausedUntilMs <= byMs);
  }

  /** Continues with what was learned of the same service with the same credentials, before the first request. */
  takeOver(former: RequestLimiter): void {
    this.#rate = former.#rate;
    this.#rate.ceiling = this.#options.requestsPerSecond;
    this.#replies = former.#replies;
    this.#throttledBy = former.#throttledBy;
  }

  load(): UpstreamLoad {
    const nowMs = this.#options.now();
    const { refusals, typicalMs } = this.#replies.upstream;
    const { replies, throttled } = this.#rate.statistics(nowMs);
    const pauseMs = Math.max(0, this.pausedUntilMs - nowMs);
    return {
      requestsPerSecond: this.#rate.perSecond,
      pauseMs,
      refusal: pauseMs > 0 ? refusals?.latest : undefined,
      recentRequests: replies,
      recentThrottled: throttled,
      throttledForMs: throttled === 0 ? undefined : nowMs - this.#rate.throttledSinceMs,
      ...this.#queue.load(nowMs),
      hangingStations: this.#replies.hangingStations,
      typicalLatencyMs: typicalMs,
    };
  }

  /**
   * Runs the work when a request of the refresh is admitted; rejects with the signal's reason when that aborts before, with the failure of
   * a service that fails all requests alike, and with errors of this process.
   * `delayMs`: the delay of a throttled request before its retry; it keeps its slot, so that no other refresh starts instead.
   */
  async run<Prepared, Value>(
    refresh: QueuedRefresh,
    { prepare, send }: Work<Prepared, Value>,
    delayMs = 0,
  ): Promise<{ readonly value: Value } | FailedRequest> {
    const request = await this.#admission(refresh, delayMs);
    let isSent = false;
    try {
      const prepared = await prepare();
      isSent = true;
      const value = await send(prepared);
      this.#replied(request, 'accepted');
      return { value };
    } catch (error) {
      const failure = error instanceof RequestFailure ? error : undefined;
      if (isSent) this.#replied(request, requestResult(error), failure);
      if (!failure) throw error;
      const throttling = isSent ? this.#throttling(request, failure) : undefined;
      return { failure, throttling, isHanging: request.isHanging };
    } finally {
      this.#release(request);
    }
  }

  async #admission(refresh: QueuedRefresh, delayMs: number): Promise<InFlight> {
    const { signal, station } = refresh;
    signal.throwIfAborted();
    const { observer, now } = this.#options;
    let enter: Enter = () => undefined;
    const admitted = new Promise<InFlight | RequestFailure>((resolve) => {
      enter = resolve;
    });
    observer.waiting?.(1);
    try {
      // In a pause that is as long the request waits in the queue, where it fails if the service is unavailable.
      const isPausedAsLong = this.pausedUntilMs > now() + delayMs - PAUSE_TOLERANCE_MS;
      if (delayMs > 0 && !isPausedAsLong) await this.#delay(delayMs, signal);
      this.#replies.expect(station);
      this.#queue.add(refresh, enter, now());
      if (!this.#isInFlight(refresh)) refresh.waiting();
      this.#admit();
      const admission = await untilAborted(admitted, signal);
      if (admission instanceof RequestFailure) throw admission;
      return admission;
    } catch (error) {
      this.#queue.delete(refresh, enter);
      this.#admit();
      throw error;
    } finally {
      observer.waiting?.(-1);
    }
  }

  async #delay(delayMs: number, signal: AbortSignal): Promise<void> {
    this.#delayed += 1;
    try {
      await delayed(delayMs, signal, this.#options.schedule);
    } finally {
      this.#delayed -= 1;
    }
  }

  /** Admits what the limits allow; a timer is set only while a request waits for time to pass. */
  #admit(mayStart = true): void {
    const nowMs = this.#options.now();
    const { unavailable } = this;
    // While `Retry-After` pauses a service that is unavailable, all stations fail alike instead of waiting.
    if (unavailable && this.pausedUntilMs > nowMs) this.#failWaiting(unavailable);
    for (let next = this.#next(nowMs, mayStart); next !== undefined; next = this.#next(nowMs, mayStart)) {
      const mayGather = unavailable !== undefined && next.start === undefined;
      const gatherMs = mayGather ? GATHER_MS - this.#queue.load(nowMs).oldestWaitingMs : 0;
      const waitMs = Math.max(this.#rate.waitMs(nowMs), gatherMs);
      if (waitMs > 0) {
        this.#wakeAfter(Math.min(waitMs, this.#unavailableInMs(nowMs)), nowMs);
        return;
      }
      const { refresh } = next;
      const request = { refresh, startedMs: nowMs, isHanging: this.#replies.isHanging(refresh.station) };
      const isFirstInFlight = !this.#isInFlight(refresh);
      const isAccepting = this.#replies.upstream.unacceptedSinceMs === undefined;
      this.#rate.started(nowMs, { isAccepting, isIdle: this.#inFlight.size === 0 });
      this.#inFlight.add(request);
      this.#queue.take(next)?.(request);
      if (isFirstInFlight) refresh.started();
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** After so long the service may be known to be unavailable without a further reply; Infinity: not by itself. */
  #unavailableInMs(nowMs: number): number {
    const { refusals } = this.#replies.upstream;
    const inMs = refusals ? refusals.sinceMs + UNAVAILABLE_MS - nowMs : 0;
    return inMs > 0 ? inMs : Number.POSITIVE_INFINITY;
  }

  /** The request that may start if the rate allows it. */
  #next(nowMs: number, mayStart: boolean): WaitingRefresh<Enter> | undefined {
    const { concurrency } = this.#options;
    const isRejected = areCredentialsRejected(this.#replies.upstream, this.#inFlight);
    if (this.#inFlight.size >= (isRejected ? 1 : concurrency)) return undefined;
    const next = this.#queue.first((station) => !this.#replies.isHanging(station));
    const isStarted = next?.start !== undefined;
    if (!isStarted && !mayStart) return undefined;
    const areOthersFirst = next !== undefined && nowMs < this.#othersFirstUntilMs;
    const hanging = areOthersFirst ? undefined : this.#nextHanging();
    if (hanging) return hanging;
    const mayStartAnother = this.#inFlight.size + this.#delayed < concurrency;
    return isStarted || mayStartAnother ? next : undefined;
  }

  /** Each hanging station may have one request in flight, all of them together a quarter of `concurrency`. */
  #nextHanging(): WaitingRefresh<Enter> | undefined {
    // Only then a search through all waiting refreshes may find one.
    if (this.#replies.hangingStations === 0) return undefined;
    const requests = Array.from(this.#inFlight);
    if (requests.filter(({ isHanging }) => isHanging).length >= this.#maxHanging) return undefined;
    const busy = new Set(requests.map(({ refresh }) => refresh.station));
    return this.#queue.first((station) => this.#replies.isHanging(station) && !busy.has(station));
  }

  /** After a reload, requests of a refresh that was aborted may still be in flight for the same station. */
  #isInFlight(refresh: QueuedRefresh): boolean {
    return Array.from(this.#inFlight).some((other) => other.refresh === refresh);
  }

  #wakeAfter(waitMs: number, nowMs: number): void {
    const atMs = nowMs + Math.ceil(waitMs);
    if (this.#timer && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const wake = () => {
      this.#timer = undefined;
      this.#admit();
    };
    this.#timer = { atMs, cancel: this.#options.schedule(wake, atMs - nowMs) };
  }

  #failWaiting(failure: RequestFailure): void {
    for (const enter of this.#queue.takeAll()) enter(failure);
  }

  /** Draws the conclusions from what became of a request. */
  #replied(request: InFlight, result: RequestResult, failure?: RequestFailure): void {
    const { startedMs, isHanging, refresh } = request;
    const { station } = refresh;
    const nowMs = this.#options.now();
    const refusals = this.#replies.refusalsOf(station);
    this.#inFlight.delete(request);
    const ended = { station, startedMs, isHanging, endedMs: nowMs, result, failure };
    const hasRecovered = this.#replies.add(ended, this.#inFlight);
    if (isAccepted(result)) {
      if (hasRecovered) this.#rate.resume(nowMs);
      this.#rate.accepted(startedMs, nowMs);
      if (refusals && !hasRecovered) this.#countThrottled(refusals, startedMs, nowMs);
    } else if (result === 'throttled') {
      this.#throttled(429, { startedMs, nowMs, retryAfterMs: failure?.retryAfterMs });
    } else if (result === 'refused') {
      this.#pauseFor(failure, nowMs);
    } else {
      this.#rate.failed(startedMs, nowMs);
    }
    // An account may be locked after many attempts: one request at a time finds out whether its credentials are still rejected.
    if (failure && result === 'rejected' && areCredentialsRejected(this.#replies.upstream, this.#inFlight))
      this.#failWaiting(failure);
  }

  /** Counts the requests with 503 that turn out to have been too many. */
  #countThrottled(refusals: StationRefusals, startedMs: number, nowMs: number): void {
    const replies = throttledBefore(refusals, startedMs);
    for (let reply = 0; reply < replies; reply += 1) this.#throttled(503, { ...refusals, nowMs });
  }

  #throttled(status: 429 | 503, throttling: Parameters<AdaptiveRate['throttled']>[0]): void {
    this.#throttledBy = status;
    this.#rate.throttled({ ...throttling, overloaded: status === 503 });
    this.#options.observer.throttled?.(status);
  }

  /** Obeys the `Retry-After` of a 503 before the service is known to be unavailable, unless it accepts requests of other stations. */
  #pauseFor(failure: RequestFailure | undefined, nowMs: number): void {
    const isOfAll = this.#replies.upstream.refusals?.latest === failure;
    if (!failure?.retryAfterMs || !isOfAll || this.unavailable) return;
    this.#throttledBy = 503;
    this.#rate.pauses.pauseUntil(nowMs + failure.retryAfterMs, nowMs);
  }

  /** There are too many requests: a 429, or a 503 of a service that is not unavailable. */
  #throttling({ refresh, startedMs }: InFlight, { status }: RequestFailure): ThrottlingState | undefined {
    const nowMs = this.#options.now();
    const { acceptedMs, stations } = this.#replies.upstream;
    const refusals = this.#replies.refusalsOf(refresh.station);
    const isUnavailable = this.unavailable !== undefined || isStationUnavailable(refusals, nowMs);
    const isThrottled = status === 429 || (status === 503 && !isUnavailable);
    if (!isThrottled) return undefined;
    return {
      isAccepting: nowMs - acceptedMs < ACCEPTING_MS || mayAccept(this.#inFlight, startedMs),
      isAtLowestRate: this.#rate.isAtFloor,
      isLone: stations === 1,
    };
  }

  #release(request: InFlight): void {
    const { refresh, isHanging, startedMs } = request;
    this.#inFlight.delete(request);
    if (isHanging) this.#letOthersFirst(startedMs);
    if (this.#queue.has(refresh) && !this.#isInFlight(refresh)) refresh.waiting();
    this.#admit(false);
    // The refresh that received the reply may request its next page first.
    this.#options.schedule(() => this.#admit(), 0);
  }

  /** Below a concurrency of four, one request is more than the share of hanging stations: others go first for a multiple of its duration. */
  #letOthersFirst(startedMs: number): void {
    const nowMs = this.#options.now();
    const share = this.#maxHanging / (this.#options.concurrency * HANGING_SHARE);
    this.#othersFirstUntilMs = nowMs + Math.max(0, share - 1) * (nowMs - startedMs);
  }
}
