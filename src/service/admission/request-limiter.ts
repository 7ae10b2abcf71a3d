import { type FailureReason, ListingFailure } from '../../model/failure.ts';
import type { UpstreamLoad } from '../../model/upstream-load.ts';
import { delayed, type Schedule, untilAborted } from '../../tasks/until-aborted.ts';
import { RequestFailure } from '../request-failure.ts';
import type { RequestObserver } from '../request-observer.ts';
import { AdaptiveRate } from './adaptive-rate.ts';
import { CircuitBreaker, type InFlight, type StationRequests } from './circuit-breaker.ts';
import { type QueuedRefresh, RefreshQueue, type WaitingRefresh } from './refresh-queue.ts';

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
  /** The station hung: this was its only request in flight. */
  readonly isProbe: boolean;
  /** undefined unless the failure means that there are too many requests. */
  readonly throttling: ThrottlingState | undefined;
}

export interface ThrottlingState {
  /** The upstream has accepted a request recently: it is not an outage. */
  readonly isAccepting: boolean;
  /** Requests are throttled even at the lowest rate. */
  readonly isAtLowestRate: boolean;
  /** The upstream has no other station, whose requests would show that the service accepts some. */
  readonly isLone: boolean;
}

/** Admits a waiting request, or ends it because of an outage. */
type Enter = (admission: InFlight | RequestFailure) => void;

/** Replies with 503 since the last accepted request. */
interface Refusals {
  /** The latest of them. */
  readonly failure: RequestFailure;
  /** When the first of them came. */
  readonly sinceMs: number;
  readonly stations: ReadonlySet<string>;
  /** They are an outage. */
  readonly isOutage: boolean;
  /** When the latest `Retry-After` of an outage ends. The data of the stations gets stale meanwhile, unlike in other holds. */
  readonly holdUntilMs: number;
}

/** Rejected credentials since the last accepted request. */
interface Rejections {
  readonly stations: ReadonlySet<string>;
  /** They are rejected for all stations. */
  readonly isGeneral: boolean;
}

/** Failures without a reply. */
const UNANSWERED: ReadonlySet<FailureReason> = new Set(['timeout', 'network', 'tls', 'internal']);

/** What a proxy answers when the service does not: it has accepted nothing. */
const NOT_REACHED: ReadonlySet<number | undefined> = new Set([502, 504]);

/**
 * When every reply for this long was a 503, fewer requests would not help: it is an outage. By then, the rate has adapted to a service that
 * sends 503 because of too many requests. Shorter than the timeout of a scrape, so that the first one in an outage reports it.
 */
const OUTAGE_MS = 5000;

/** A service that accepts few requests refuses them in between: what repeats so soon is no interruption. */
const INTERRUPTED_AGAIN_MS = 10_000;

/** So many stations that are refused, or all if there are fewer, are not out each by itself; of so many, the credentials are not rejected for each by itself. */
const OUT_STATIONS = 3;

/** A station is out by itself when it was refused this often while others are accepted. */
const OUT_REPLIES = 10;

/** In an outage requests wait for each other, so that those of the stations that were tried least recently are sent. */
const GATHER_MS = 1000;

/** Between the reply that begins a hold and the pause before its retry, which is as long, time passes. */
const HOLD_TOLERANCE_MS = 100;

/** Longer than the window in which most services count: until then, a service that throttles everything may only have used up its quota. */
const ACCEPTING_MS = 75_000;

/** Limits the requests in flight to an upstream and the rate at which they start, and decides which one is next. */
export class RequestLimiter {
  readonly #options: LimiterOptions;
  readonly breaker: CircuitBreaker;
  readonly #queue = new RefreshQueue<Enter>();
  readonly #inFlight = new Set<InFlight>();
  #rate = new AdaptiveRate();
  /** Throttled requests before their retries. */
  #pauses = 0;
  #refusals: Refusals | undefined;
  /** The end of the latest outage or interruption. */
  #outageEndedMs = Number.NEGATIVE_INFINITY;
  /** When the first request since the last accepted one was refused, or did not reach the service; undefined: none was. */
  #unacceptedSinceMs: number | undefined;
  #rejections: Rejections | undefined;
  /** The status of the latest reply that was throttling. */
  #throttledBy: number | undefined;
  /** Typical latency of a reply; undefined: none so far. */
  #typicalMs: number | undefined;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate.ceiling = options.requestsPerSecond;
    this.breaker = new CircuitBreaker(options.concurrency);
  }

  /** No request may start before this time (Retry-After); in the past without a hold. */
  get holdUntilMs(): number {
    return Math.max(this.#rate.holds.untilMs, this.#refusals?.holdUntilMs ?? 0);
  }

  /** The latest reply of an outage, in which the service accepts nothing; undefined: there is none. */
  get outage(): RequestFailure | undefined {
    return this.#refusals?.isOutage ? this.#refusals.failure : undefined;
  }

  /** The service accepts less than the configuration allows. */
  get isThrottled(): boolean {
    return this.#rate.perSecond < (this.#options.requestsPerSecond || Number.POSITIVE_INFINITY);
  }

  /** The status of the latest reply that lowered the rate or holds the upstream; undefined: none did. */
  get throttledBy(): number | undefined {
    return this.#throttledBy;
  }

  /**
   * Whether requests of the station may be answered before that time: not if the station hangs, or `Retry-After` holds the upstream, except
   * in an outage, when they fail at once.
   */
  mayAnswer(station: string, byMs: number): boolean {
    return !this.breaker.isHanging(station) && (this.outage !== undefined || this.holdUntilMs <= byMs);
  }

  /** There are too many requests: a 429, or a 503 that is not part of an outage. */
  #throttling({ station, admittedMs }: InFlight, { status }: RequestFailure): ThrottlingState | undefined {
    const isOutage = this.outage !== undefined || this.#isOut(station);
    const isThrottled = status === 429 || (status === 503 && !isOutage);
    if (!isThrottled) return undefined;
    const sinceAcceptedMs = this.#options.now() - this.#rate.lastAcceptedMs;
    return {
      isAccepting: sinceAcceptedMs < ACCEPTING_MS || this.#mayAccept(admittedMs),
      isAtLowestRate: this.#rate.isAtFloor,
      isLone: this.breaker.stations === 1,
    };
  }

  /** Whether a request that was admitted by then is still in flight. A probe is of a station that hangs, and says nothing about the others. */
  #mayAccept(admittedMs: number): boolean {
    return Array.from(this.#inFlight).some((other) => !other.isProbe && other.admittedMs <= admittedMs);
  }

  /** After a reload, requests of a refresh that was aborted may still be in flight for the same station. */
  #isInFlight(refresh: InFlight['refresh']): boolean {
    return Array.from(this.#inFlight).some((other) => other.refresh === refresh);
  }

  #isOut({ refused }: StationRequests): boolean {
    if (!refused) return false;
    return refused.replies >= OUT_REPLIES && this.#options.now() - refused.sinceMs >= OUTAGE_MS;
  }

  /**
   * The service rejected credentials that renewing does not cure. Once it did so for several stations and has accepted none, one request at a
   * time finds out whether it still does, and those that wait for it fail alike: an account may be locked after many attempts.
   */
  #rejected({ station, admittedMs }: InFlight, failure: RequestFailure): void {
    const stations = new Set([...(this.#rejections?.stations ?? []), station.name]);
    const isGeneral = stations.size >= OUT_STATIONS && !this.#mayAccept(admittedMs);
    this.#rejections = { stations, isGeneral };
    if (isGeneral) for (const enter of this.#queue.takeAll()) enter(failure);
  }

  /** Continues with the hold, the rate and the hanging stations of the same service and credentials, before the first request. */
  takeOver(former: RequestLimiter): void {
    this.#rate = former.#rate;
    this.#rate.ceiling = this.#options.requestsPerSecond;
    this.#throttledBy = former.#throttledBy;
    this.#refusals = former.#refusals;
    this.#unacceptedSinceMs = former.#unacceptedSinceMs;
    this.breaker.takeOver(former.breaker);
  }

  load(): UpstreamLoad {
    const nowMs = this.#options.now();
    const { replies, throttled } = this.#rate.statistics(nowMs);
    const holdMs = Math.max(0, this.holdUntilMs - nowMs);
    return {
      requestsPerSecond: this.#rate.perSecond,
      holdMs,
      refusal: holdMs > 0 ? this.#refusals?.failure : undefined,
      recentRequests: replies,
      recentThrottled: throttled,
      throttledForMs: throttled === 0 ? undefined : nowMs - this.#rate.throttledSinceMs,
      ...this.#queue.load(nowMs),
      hangingStations: this.breaker.hangingStations,
      typicalLatencyMs: this.#typicalMs,
    };
  }

  /**
   * Runs the work when a request of the refresh is admitted; rejects with the signal's reason when that aborts before, with the failure of
   * an upstream that fails all requests alike, and with errors of this process.
   * `pauseMs`: the delay of a throttled request before its retry; it keeps its slot, so that no other refresh starts instead.
   */
  async run<Prepared, Value>(
    refresh: QueuedRefresh,
    { prepare, send }: Work<Prepared, Value>,
    pauseMs = 0,
  ): Promise<{ readonly value: Value } | FailedRequest> {
    const inFlight = await this.#admission(refresh, pauseMs);
    let isSent = false;
    try {
      const prepared = await prepare();
      isSent = true;
      const value = await send(prepared);
      this.#rejections = undefined;
      this.#answered(inFlight);
      return { value };
    } catch (error) {
      this.#inFlight.delete(inFlight);
      if (isSent) this.#failed(inFlight, error);
      if (!(error instanceof RequestFailure)) throw error;
      const throttling = isSent ? this.#throttling(inFlight, error) : undefined;
      return { failure: error, isProbe: inFlight.isProbe, throttling };
    } finally {
      this.#release(inFlight);
    }
  }

  async #admission(refresh: QueuedRefresh, pauseMs: number): Promise<InFlight> {
    const { signal } = refresh;
    signal.throwIfAborted();
    const { observer, now } = this.#options;
    let enter: Enter = () => undefined;
    const admitted = new Promise<InFlight | RequestFailure>((resolve) => {
      enter = resolve;
    });
    observer.waiting?.(1);
    try {
      // In a hold that is as long the request waits in the queue, where an outage ends it.
      const isHeldAsLong = this.holdUntilMs > now() + pauseMs - HOLD_TOLERANCE_MS;
      if (pauseMs > 0 && !isHeldAsLong) await this.#pause(pauseMs, signal);
      this.breaker.add(refresh.station);
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

  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    this.#pauses += 1;
    try {
      await delayed(pauseMs, signal, this.#options.schedule);
    } finally {
      this.#pauses -= 1;
    }
  }

  /** Admits what the limits allow; a timer is set only while a request waits for time to pass. */
  #admit(mayStart = true): void {
    const nowMs = this.#options.now();
    const { outage } = this;
    // While `Retry-After` holds an upstream that accepts nothing, all stations fail alike instead of waiting.
    if (outage && this.holdUntilMs > nowMs) for (const enter of this.#queue.takeAll()) enter(outage);
    for (let next = this.#next(nowMs, mayStart); next !== undefined; next = this.#next(nowMs, mayStart)) {
      const mayGather = outage !== undefined && next.start === undefined;
      const gatherMs = mayGather ? GATHER_MS - this.#queue.load(nowMs).oldestWaitingMs : 0;
      const waitMs = Math.max(this.#rate.waitMs(nowMs), gatherMs);
      if (waitMs > 0) {
        this.#wakeAfter(waitMs, nowMs);
        return;
      }
      const { refresh } = next;
      const station = this.breaker.station(refresh.station);
      const inFlight = { refresh, station, isProbe: station.isHanging, admittedMs: nowMs };
      const isFirstInFlight = !this.#isInFlight(refresh);
      this.#inFlight.add(inFlight);
      this.#rate.started(nowMs, this.#unacceptedSinceMs === undefined);
      this.breaker.admitted(inFlight);
      this.#queue.take(next)?.(inFlight);
      if (isFirstInFlight) refresh.started();
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The request that may start if the rate allows it. */
  #next(nowMs: number, mayStart: boolean): WaitingRefresh<Enter> | undefined {
    const { concurrency } = this.#options;
    if (this.#inFlight.size >= (this.#rejections?.isGeneral ? 1 : concurrency)) return undefined;
    const next = this.#queue.first((station) => !this.breaker.isHanging(station));
    const isStarted = next?.start !== undefined;
    if (!isStarted && !mayStart) return undefined;
    // Only a probe is worth a search through all waiting refreshes.
    const mayProbe = this.breaker.hangingStations > 0 && this.breaker.mayProbe(nowMs, next !== undefined);
    const probe = mayProbe ? this.#queue.first((station) => this.breaker.isProbeable(station)) : undefined;
    if (probe) return probe;
    const mayStartAnother = this.#inFlight.size + this.#pauses < concurrency;
    return isStarted || mayStartAnother ? next : undefined;
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

  #answered({ station, admittedMs }: InFlight): void {
    const nowMs = this.#options.now();
    if (this.outage || this.#wasInterrupted(admittedMs)) {
      this.#outageEndedMs = nowMs;
      this.breaker.outageEnded(admittedMs);
      this.#rate.resume(nowMs);
    }
    this.#refusals = undefined;
    this.#unacceptedSinceMs = undefined;
    this.#rate.accepted(admittedMs, nowMs);
    this.#countRefused(station, admittedMs, nowMs);
    this.#typicalMs = towards(this.#typicalMs, nowMs - admittedMs);
    station.isHanging = false;
    station.hasReplied = true;
  }

  /** Whether nothing was accepted between a failure and the start of a request that is accepted now. */
  #wasInterrupted(admittedMs: number): boolean {
    const sinceMs = this.#unacceptedSinceMs ?? admittedMs;
    return admittedMs > sinceMs && sinceMs >= this.#outageEndedMs + INTERRUPTED_AGAIN_MS;
  }

  #failed(inFlight: InFlight, error: unknown): void {
    if (!(error instanceof RequestFailure && error.status === 401)) this.#rejections = undefined;
    else if (!error.isExpired) this.#rejected(inFlight, error);
    if (error instanceof RequestFailure && (error.status === 429 || error.status === 503)) {
      this.#refused(inFlight, error, error.status);
    } else if (error instanceof ListingFailure && !UNANSWERED.has(error.reason) && !NOT_REACHED.has(error.status)) {
      this.#answered(inFlight);
    } else {
      this.#unacceptedSinceMs ??= this.#options.now();
      this.#rate.failed(inFlight.admittedMs, this.#options.now());
      if (error instanceof RequestFailure && error.reason === 'timeout') inFlight.station.isHanging = true;
    }
  }

  /** The latency of such a reply is not that of a page. */
  #refused(inFlight: InFlight, failure: RequestFailure, status: 429 | 503): void {
    const { station, admittedMs: startedMs } = inFlight;
    const { retryAfterMs } = failure;
    const nowMs = this.#options.now();
    station.isHanging = false;
    station.hasReplied = true;
    if (status === 429) this.#throttled(status, { startedMs, nowMs, retryAfterMs });
    // A request from before the end of an outage is part of it.
    else if (startedMs >= this.#outageEndedMs) this.#unavailable(inFlight, failure, nowMs);
  }

  /** Whether too many requests or an outage is the cause of a 503 is not known until the station is accepted again. */
  #unavailable(inFlight: InFlight, failure: RequestFailure, nowMs: number): void {
    const { station, admittedMs } = inFlight;
    const { sinceMs, replies } = station.refused ?? { sinceMs: nowMs, replies: 0 };
    const { retryAfterMs } = failure;
    this.#unacceptedSinceMs ??= nowMs;
    station.refused = { sinceMs, replies: replies + 1, startedMs: admittedMs, retryAfterMs };
    const areOthersAccepted = this.#rate.lastAcceptedStartMs >= sinceMs;
    if (!areOthersAccepted) this.#upstreamUnavailable(inFlight, failure, nowMs);
  }

  /** An outage of the upstream fails all stations alike; before it is known to be one, `Retry-After` holds their requests. */
  #upstreamUnavailable({ station, admittedMs }: InFlight, failure: RequestFailure, nowMs: number): void {
    const before = this.#refusals;
    const sinceMs = before?.sinceMs ?? nowMs;
    const isLong = nowMs - sinceMs >= OUTAGE_MS;
    const isOutage = before?.isOutage || (isLong && !this.#mayAccept(admittedMs));
    const untilMs = nowMs + (failure.retryAfterMs ?? 0);
    this.#refusals = {
      failure,
      sinceMs,
      stations: new Set([...(before?.stations ?? []), station.name]),
      isOutage,
      holdUntilMs: isOutage ? Math.max(untilMs, before?.holdUntilMs ?? 0) : 0,
    };
    if (!isOutage && untilMs > nowMs) {
      this.#throttledBy = 503;
      this.#rate.holds.hold(untilMs, nowMs);
      this.#options.schedule(() => this.#heldLong(), sinceMs + OUTAGE_MS - nowMs);
    }
  }

  /** No reply shows during a hold that it is an outage. One station may be the only one that is out, if others were accepted just before. */
  #heldLong(): void {
    const nowMs = this.#options.now();
    if (!this.#refusals || nowMs - this.#refusals.sinceMs < OUTAGE_MS) return;
    const { sinceMs, stations } = this.#refusals;
    const isOfMany = stations.size >= Math.min(OUT_STATIONS, this.breaker.stations);
    const isShared = isOfMany || sinceMs - this.#rate.lastAcceptedMs >= OUTAGE_MS;
    if (isShared && !this.#mayAccept(nowMs)) this.#refusals = { ...this.#refusals, isOutage: true };
    this.#admit();
  }

  /** The station is accepted again soon after replies with 503: these were throttling. */
  #countRefused(station: StationRequests, startedMs: number, nowMs: number): void {
    if (!station.refused || startedMs < station.refused.sinceMs) return;
    const isOutage = startedMs - station.refused.sinceMs >= OUTAGE_MS;
    const replies = isOutage ? 0 : station.refused.replies;
    const throttling = { ...station.refused, nowMs };
    for (let reply = 0; reply < replies; reply += 1) this.#throttled(503, throttling);
    station.refused = undefined;
  }

  #throttled(status: 429 | 503, throttling: Parameters<AdaptiveRate['throttled']>[0]): void {
    this.#throttledBy = status;
    this.#rate.throttled({ ...throttling, overloaded: status === 503 });
    this.#options.observer.throttled?.(status);
  }

  #release(inFlight: InFlight): void {
    this.#inFlight.delete(inFlight);
    this.#rate.ended();
    this.breaker.ended(inFlight, this.#options.now());
    const { refresh } = inFlight;
    if (this.#queue.has(refresh) && !this.#isInFlight(refresh)) refresh.waiting();
    this.#admit(false);
    // The refresh that received the reply may request its next page first.
    this.#options.schedule(() => this.#admit(), 0);
  }
}

/** The typical latency follows the median: each reply changes it by at most this factor. */
const MEDIAN_STEP = 1.25;

function towards(typicalMs: number | undefined, latencyMs: number): number {
  if (typicalMs === undefined) return latencyMs;
  return Math.min(Math.max(latencyMs, typicalMs / MEDIAN_STEP), typicalMs * MEDIAN_STEP);
}
