import { type FailureReason, ListingFailure } from '../../model/failure.ts';
import { RequestFailure } from '../request-failure.ts';

/** What became of a request that was sent. */
export type RequestResult =
  /** Answered in any other way than the following. */
  | 'accepted'
  /** 401, after which the credentials have been obtained again. */
  | 'expired'
  /** 401, which obtaining the credentials again does not cure. */
  | 'rejected'
  /** 429. */
  | 'throttled'
  /** 503: there are too many requests, or the service is unavailable. Later replies show which. */
  | 'refused'
  | 'timeout'
  /** The service was not reached, or the request was aborted. */
  | 'failed';

/** Failures without a reply. */
const UNANSWERED: ReadonlySet<FailureReason> = new Set(['timeout', 'network', 'tls', 'internal']);

/** What a proxy answers when the service does not: it has accepted nothing. */
const NOT_REACHED: ReadonlySet<number | undefined> = new Set([502, 504]);

export function requestResult(error: unknown): RequestResult {
  if (!(error instanceof ListingFailure)) return 'failed';
  const { status, reason } = error;
  if (status === 429) return 'throttled';
  if (status === 503) return 'refused';
  if (error instanceof RequestFailure && status === 401) return error.isExpired ? 'expired' : 'rejected';
  // A refresh that times out with a request in flight ends with another failure.
  if (error instanceof RequestFailure && reason === 'timeout') return 'timeout';
  return UNANSWERED.has(reason) || NOT_REACHED.has(status) ? 'failed' : 'accepted';
}

/** The service answered, and not because there are too many requests. */
export function isAccepted(result: RequestResult): boolean {
  return result === 'accepted' || result === 'expired' || result === 'rejected';
}

/** A request in flight, as far as these rules need to know it. */
export interface PendingRequest {
  readonly startedMs: number;
  /** The station hangs: this is its only request in flight. */
  readonly isHanging: boolean;
}

/** A request that was sent, and what became of it. */
interface EndedRequest extends PendingRequest {
  readonly station: string;
  readonly endedMs: number;
  readonly result: RequestResult;
  readonly failure?: RequestFailure | undefined;
}

/** What the replies say of the service as a whole. */
export interface UpstreamState {
  /** How many stations have sent a request, or wait to. */
  readonly stations: number;
  /** When a request was last accepted. */
  readonly acceptedMs: number;
  /** When the latest of the accepted requests started. */
  readonly acceptedStartMs: number;
  /** When the first request since then was refused, or did not reach the service; undefined: none was. */
  readonly unacceptedSinceMs: number | undefined;
  /** When the service last accepted a request after it was unavailable or interrupted. */
  readonly recoveredMs: number;
  readonly refusals: Refusals | undefined;
  readonly rejections: Rejections | undefined;
  /** Typical latency of an accepted request; undefined: none so far. */
  readonly typicalMs: number | undefined;
}

/** Refused requests since the last accepted one, without those of stations that are refused while others are accepted. */
interface Refusals {
  /** When the first and the latest of these replies came. */
  readonly sinceMs: number;
  readonly latestMs: number;
  readonly latest: RequestFailure;
  readonly stations: ReadonlySet<string>;
  /** They have shown that the service is unavailable, and still do while later requests are in flight. */
  readonly isShown: boolean;
  /** When the latest `Retry-After` of them ends; -Infinity: none had one. */
  readonly pausedUntilMs: number;
}

/** Rejected credentials since the last other reply. */
interface Rejections {
  readonly stations: ReadonlySet<string>;
  /** When the request that was rejected last started. */
  readonly startedMs: number;
}

/** Refused requests of a station since its last accepted one. */
export interface StationRefusals {
  readonly replies: number;
  /** When the first of these replies came. */
  readonly sinceMs: number;
  /** When the latest of these requests started. */
  readonly startedMs: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * When every reply for this long was a 503, fewer requests would not help: the service is unavailable. By then, the rate has adapted to a
 * service that sends 503 because of too many requests. Shorter than the timeout of a scrape, so that the first one reports it.
 */
export const UNAVAILABLE_MS = 5000;

/** A service that accepts few requests refuses them in between: what repeats so soon is no interruption. */
const INTERRUPTED_AGAIN_MS = 10_000;

/** So many stations are not refused or rejected each for a reason of its own; where there are fewer, all of them are not refused so either. */
const SEVERAL_STATIONS = 3;

/** A station is unavailable by itself when it was refused this often while others are accepted. */
const UNAVAILABLE_REPLIES = 10;

const NO_REPLIES: UpstreamState = {
  stations: 0,
  acceptedMs: Number.NEGATIVE_INFINITY,
  acceptedStartMs: Number.NEGATIVE_INFINITY,
  unacceptedSinceMs: undefined,
  recoveredMs: Number.NEGATIVE_INFINITY,
  refusals: undefined,
  rejections: undefined,
  typicalMs: undefined,
};

/** Whether a request that started by then may still be accepted. Those of hanging stations say nothing about the others. */
export function mayAccept(pending: Iterable<PendingRequest>, startedMs: number): boolean {
  for (const request of pending) if (!request.isHanging && request.startedMs <= startedMs) return true;
  return false;
}

/** Whether the service accepts nothing, so that it would not accept fewer requests either. */
export function isUnavailable(
  { refusals, acceptedMs, stations }: UpstreamState,
  pending: Iterable<PendingRequest>,
  nowMs: number,
): boolean {
  if (!refusals) return false;
  if (refusals.isShown) return true;
  // No further reply comes in a pause. A single station may be refused for a reason of its own, if others were accepted just before.
  const isPaused = Number.isFinite(refusals.pausedUntilMs);
  const isLong = nowMs - refusals.sinceMs >= UNAVAILABLE_MS;
  const isOfSeveral = refusals.stations.size >= Math.min(SEVERAL_STATIONS, stations);
  const isShared = isOfSeveral || refusals.sinceMs - acceptedMs >= UNAVAILABLE_MS;
  return isPaused && isLong && isShared && !mayAccept(pending, refusals.latestMs);
}

/** Whether a request that is accepted now, and started then, is the first after an interruption: nothing was accepted in between. */
export function wasInterrupted({ unacceptedSinceMs, recoveredMs }: UpstreamState, startedMs: number): boolean {
  if (unacceptedSinceMs === undefined) return false;
  return startedMs > unacceptedSinceMs && unacceptedSinceMs >= recoveredMs + INTERRUPTED_AGAIN_MS;
}

/** Whether a station is refused, for a reason of its own, while others are accepted. */
export function isStationUnavailable(refusals: StationRefusals | undefined, nowMs: number): boolean {
  if (!refusals) return false;
  return refusals.replies >= UNAVAILABLE_REPLIES && nowMs - refusals.sinceMs >= UNAVAILABLE_MS;
}

/** How many requests of a station were refused because there were too many: those before one that is accepted soon after the first of them. */
export function throttledBefore({ sinceMs, replies }: StationRefusals, startedMs: number): number {
  const afterMs = startedMs - sinceMs;
  return afterMs >= 0 && afterMs < UNAVAILABLE_MS ? replies : 0;
}

/** Whether the service rejects the credentials of all stations. */
export function areCredentialsRejected({ rejections }: UpstreamState, pending: Iterable<PendingRequest>): boolean {
  if (!rejections || rejections.stations.size < SEVERAL_STATIONS) return false;
  return !mayAccept(pending, rejections.startedMs);
}

/** What the replies so far say of a service and its stations. */
export class UpstreamReplies {
  #upstream = NO_REPLIES;
  readonly #stations = new Set<string>();
  /** The service has replied to them, whatever it said. */
  readonly #answered = new Set<string>();
  /** A request timed out, and none has been answered since. */
  readonly #hanging = new Set<string>();
  readonly #refusals = new Map<string, StationRefusals>();

  get upstream(): UpstreamState {
    return this.#upstream;
  }

  get hangingStations(): number {
    return this.#hanging.size;
  }

  isHanging(station: string): boolean {
    return this.#hanging.has(station);
  }

  hasReplied(station: string): boolean {
    return this.#answered.has(station);
  }

  refusalsOf(station: string): StationRefusals | undefined {
    return this.#refusals.get(station);
  }

  /** The station has a request to send. */
  expect(station: string): void {
    if (this.#stations.has(station)) return;
    this.#stations.add(station);
    this.#upstream = { ...this.#upstream, stations: this.#stations.size };
  }

  /** Forgets the stations with other names, which are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const known of [this.#stations, this.#answered, this.#hanging, this.#refusals])
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    this.#upstream = { ...this.#upstream, stations: this.#stations.size };
  }

  /** Returns whether the service has recovered: it accepts a request after it was unavailable or interrupted. `others`: those in flight. */
  add(request: EndedRequest, others: Iterable<PendingRequest>): boolean {
    const { station, startedMs, endedMs, result, failure } = request;
    if (result === 'timeout') this.#hanging.add(station);
    if (result !== 'timeout' && result !== 'failed') {
      this.#hanging.delete(station);
      this.#answered.add(station);
    }
    // While the request was in flight, it might have been accepted.
    const wasUnavailable = isUnavailable(this.#upstream, [...others, request], endedMs);
    const hasRecovered = isAccepted(result) && (wasUnavailable || wasInterrupted(this.#upstream, startedMs));
    this.#upstream = { ...this.#upstream, rejections: this.#rejectionsAfter(request) };
    if (isAccepted(result)) this.#accepted(request, hasRecovered);
    else if (result !== 'refused') this.#unaccepted(result, endedMs);
    // A request from before the service recovered says nothing about the time after it.
    else if (failure && startedMs >= this.#upstream.recoveredMs)
      this.#refused(request, failure, wasUnavailable || !mayAccept(others, startedMs));
    return hasRecovered;
  }

  #rejectionsAfter({ station, startedMs, result }: EndedRequest): Rejections | undefined {
    const { rejections } = this.#upstream;
    if (result === 'expired') return rejections;
    if (result !== 'rejected') return undefined;
    return { stations: severalStations(rejections?.stations, station), startedMs };
  }

  #accepted({ station, startedMs, endedMs }: EndedRequest, hasRecovered: boolean): void {
    const { acceptedStartMs, recoveredMs, typicalMs } = this.#upstream;
    if (hasRecovered) this.#forgetRefusals(startedMs);
    const refusals = this.#refusals.get(station);
    if (refusals && startedMs >= refusals.sinceMs) this.#refusals.delete(station);
    this.#upstream = {
      ...this.#upstream,
      acceptedMs: endedMs,
      acceptedStartMs: Math.max(acceptedStartMs, startedMs),
      unacceptedSinceMs: undefined,
      recoveredMs: hasRecovered ? endedMs : recoveredMs,
      refusals: undefined,
      typicalMs: towards(typicalMs, endedMs - startedMs),
    };
  }

  /** None of them was throttling, and what is refused from then on is new. */
  #forgetRefusals(sinceMs: number): void {
    for (const [station, refusals] of this.#refusals) this.#refusals.set(station, { ...refusals, sinceMs, replies: 0 });
  }

  #unaccepted(result: RequestResult, nowMs: number): void {
    // A service that throttles accepts others.
    if (result === 'throttled') return;
    const { unacceptedSinceMs = nowMs } = this.#upstream;
    this.#upstream = { ...this.#upstream, unacceptedSinceMs };
  }

  /** `isLast`: no request that started before it may still be accepted. */
  #refused({ station, startedMs, endedMs, result }: EndedRequest, latest: RequestFailure, isLast: boolean): void {
    this.#unaccepted(result, endedMs);
    const { retryAfterMs } = latest;
    const { sinceMs, replies } = this.#refusals.get(station) ?? { sinceMs: endedMs, replies: 0 };
    this.#refusals.set(station, { replies: replies + 1, sinceMs, startedMs, retryAfterMs });
    const { acceptedStartMs, refusals } = this.#upstream;
    const areOthersAccepted = acceptedStartMs >= sinceMs;
    if (areOthersAccepted) return;
    const upstreamSinceMs = refusals?.sinceMs ?? endedMs;
    const untilMs = retryAfterMs ? endedMs + retryAfterMs : Number.NEGATIVE_INFINITY;
    this.#upstream = {
      ...this.#upstream,
      refusals: {
        sinceMs: upstreamSinceMs,
        latestMs: endedMs,
        latest,
        isShown: isLast && endedMs - upstreamSinceMs >= UNAVAILABLE_MS,
        stations: severalStations(refusals?.stations, station),
        pausedUntilMs: Math.max(refusals?.pausedUntilMs ?? Number.NEGATIVE_INFINITY, untilMs),
      },
    };
  }
}

/** The stations with another one, of which no rule needs more than several. */
function severalStations(stations: ReadonlySet<string> = new Set(), other: string): ReadonlySet<string> {
  return stations.size < SEVERAL_STATIONS ? new Set([...stations, other]) : stations;
}

/** The typical latency follows the median: each reply changes it by at most this factor. */
const MEDIAN_STEP = 1.25;

function towards(typicalMs: number | undefined, latencyMs: number): number {
  if (typicalMs === undefined) return latencyMs;
  return Math.min(Math.max(latencyMs, typicalMs / MEDIAN_STEP), typicalMs * MEDIAN_STEP);
}
