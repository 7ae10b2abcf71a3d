import { type Reply, RequestFailure } from '../../../src/service/request-failure.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface UpstreamModel {
  readonly latencyMs: number | ((station: string, nowMs: number) => number);
  /** A 429 may come faster than a page. */
  readonly throttleLatencyMs?: number;
  /** Requests arrive up to this much later than they were sent. */
  readonly jitterMs?: number;
  /** Each period of the clock accepts this many. */
  readonly window?: { readonly requests: number; readonly periodMs: number };
  /** Further requests at the same time get a 503. */
  readonly maxInFlight?: number;
  readonly bucket?: { readonly perSecond: number | ((nowMs: number) => number); readonly burst: number };
  /** The share of requests throttled at any rate. */
  readonly throttledShare?: number;
  /** In seconds, as services send it; undefined: not sent. */
  readonly retryAfter?: number | undefined;
  readonly hangs?: (station: string, nowMs: number) => boolean;
  readonly throttlesAll?: (nowMs: number) => boolean;
  /** Whether a request gets a 503. */
  readonly unavailable?: (station: string, nowMs: number) => boolean;
  /** What comes instead of a reply of the service. */
  readonly interrupted?: (nowMs: number) => Interruption | undefined;
  /** The largest page of the station that the service can send, in records. */
  readonly largestPage?: (station: string) => number;
  /** What it replies to a request for a larger one. */
  readonly tooLarge?: Reply;
  /** The `Retry-After` of these replies, if it differs from that of the others. */
  readonly unavailableRetryAfter?: number | undefined;
}

/** The connection is refused or reset, or a proxy answers with that status. */
export type Interruption = 'refused' | 'reset' | 502 | 503 | 504;

/** A request for a page of a listing. */
export interface SimulatedPage {
  readonly size: number;
  readonly body: () => Buffer;
}

const NO_BODY = Buffer.alloc(0);

/** What the service says while it is not available. */
export const MAINTENANCE = 'closed for maintenance';

/** Requests per second of virtual time. */
export interface Tally {
  accepted: number;
  throttled: number;
}

/** A service with a rate limit, latency and stations that hang. */
export class SimulatedUpstream {
  /** By second. */
  readonly tallies: Tally[] = [];
  mostInFlight = 0;
  /** Requests for pages that were too large. */
  tooLarge = 0;
  /** Requests that were sent before the time of an earlier `Retry-After`. */
  early = 0;
  #retryAtMs = 0;
  #inFlight = 0;
  readonly #model: UpstreamModel;
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  #tokens: number;
  #refilledMs = 0;
  #served = 0;
  #window = { index: 0, accepted: 0 };

  constructor(model: UpstreamModel, clock: VirtualClock, random: () => number) {
    this.#model = model;
    this.#clock = clock;
    this.#random = random;
    this.#tokens = model.bucket?.burst ?? 0;
  }

  async request(station: string, timeoutMs: number, signal: AbortSignal, page?: SimulatedPage): Promise<Reply> {
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    if (this.#clock.now() < this.#retryAtMs) this.early += 1;
    try {
      return await this.#reply(station, timeoutMs, signal, page);
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Requests from one time to another. */
  total(fromMs: number, untilMs: number): Tally {
    const total = { accepted: 0, throttled: 0 };
    for (const tally of this.tallies.slice(fromMs / 1000, untilMs / 1000)) {
      total.accepted += tally?.accepted ?? 0;
      total.throttled += tally?.throttled ?? 0;
    }
    return total;
  }

  async #reply(station: string, timeoutMs: number, signal: AbortSignal, page?: SimulatedPage): Promise<Reply> {
    const { latencyMs, throttleLatencyMs, hangs, jitterMs = 0 } = this.#model;
    if (jitterMs > 0) await this.#clock.sleep(jitterMs * this.#random(), signal);
    const nowMs = this.#clock.now();
    const pageMs = typeof latencyMs === 'number' ? latencyMs : latencyMs(station, nowMs);
    const interruption = this.#model.interrupted?.(nowMs);
    if (interruption !== undefined) return this.#interrupt(interruption, signal);
    if (hangs?.(station, nowMs) || pageMs > timeoutMs) {
      await this.#clock.sleep(timeoutMs, signal);
      throw new RequestFailure('timeout', 'no reply', { retryable: true });
    }
    const isOut = this.#model.unavailable?.(station, nowMs) === true;
    const status = isOut ? 503 : this.#status(nowMs);
    this.#tally(nowMs)[status === 200 ? 'accepted' : 'throttled'] += 1;
    if (status !== 200) {
      await this.#clock.sleep(throttleLatencyMs ?? pageMs, signal);
      return this.#refusal(status, isOut);
    }
    this.#served += 1;
    try {
      await this.#clock.sleep(pageMs, signal);
      const { tooLarge, largestPage } = this.#model;
      if (page && tooLarge && page.size > (largestPage?.(station) ?? page.size)) {
        this.tooLarge += 1;
        return tooLarge;
      }
      return { status, headers: {}, body: page?.body() ?? NO_BODY };
    } finally {
      this.#served -= 1;
    }
  }

  async #interrupt(interruption: Interruption, signal: AbortSignal): Promise<Reply> {
    await this.#clock.sleep(this.#model.throttleLatencyMs ?? 1, signal);
    if (typeof interruption === 'number') return { status: interruption, headers: {}, body: NO_BODY };
    throw new RequestFailure('network', `connection ${interruption}`, { retryable: true });
  }

  #refusal(status: 429 | 503, isOut: boolean): Reply {
    const { retryAfter, unavailableRetryAfter = retryAfter } = this.#model;
    const seconds = isOut ? unavailableRetryAfter : retryAfter;
    const body = isOut ? Buffer.from(MAINTENANCE) : NO_BODY;
    if (!seconds) return { status, headers: {}, body };
    this.#retryAtMs = Math.max(this.#retryAtMs, this.#clock.now() + 1000 * seconds);
    return { status, headers: { 'retry-after': String(seconds) }, body };
  }

  #status(nowMs: number): 200 | 429 | 503 {
    const { maxInFlight = Number.POSITIVE_INFINITY } = this.#model;
    if (this.#served >= maxInFlight) return 503;
    return this.#throttles(nowMs) ? 429 : 200;
  }

  #tally(nowMs: number): Tally {
    const second = Math.floor(nowMs / 1000);
    const tally = this.tallies[second] ?? { accepted: 0, throttled: 0 };
    this.tallies[second] = tally;
    return tally;
  }

  #throttles(nowMs: number): boolean {
    const { bucket, window, throttledShare = 0, throttlesAll } = this.#model;
    if (throttlesAll?.(nowMs) || this.#random() < throttledShare) return true;
    if (window) {
      const index = Math.floor(nowMs / window.periodMs);
      if (this.#window.index !== index) this.#window = { index, accepted: 0 };
      if (this.#window.accepted >= window.requests) return true;
      this.#window.accepted += 1;
    }
    if (!bucket) return false;
    const seconds = (nowMs - this.#refilledMs) / 1000;
    this.#refilledMs = nowMs;
    const perSecond = typeof bucket.perSecond === 'number' ? bucket.perSecond : bucket.perSecond(nowMs);
    this.#tokens = Math.min(bucket.burst, this.#tokens + seconds * perSecond);
    if (this.#tokens < 1) return true;
    this.#tokens -= 1;
    return false;
  }
}
