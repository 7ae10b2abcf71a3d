import { type ListingRequest, type RejectedRequest, type RequestHead, splitTarget } from './listing-request.ts';

/** A request as the service received it. */
export interface LoggedRequest extends RequestHead {
  readonly atMs: number;
  readonly path: string;
  readonly query: URLSearchParams;
  /** undefined: not a listing request. */
  readonly station: string | undefined;
  readonly offset: number | undefined;
  readonly size: number | undefined;
}

/** The latest requests in order of arrival, and the maximum number in flight. */
export class RequestLog {
  readonly #limit: number;
  readonly #requests: LoggedRequest[] = [];
  readonly #inFlight = new Map<string, number>();
  readonly #maxInFlight = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** For one station; by default for all stations together. */
  maxInFlight(station = ALL): number {
    return this.#maxInFlight.get(station) ?? 0;
  }

  /** Requests in flight stay counted. */
  clear(): void {
    this.#requests.length = 0;
    this.#maxInFlight.clear();
  }

  /** Logs the request; the returned function marks its end and is idempotent. */
  begin(head: RequestHead, request: ListingRequest | RejectedRequest, atMs: number): () => void {
    const logged = loggedRequest(head, request, atMs);
    this.#requests.push(logged);
    if (this.#requests.length > this.#limit) this.#requests.shift();
    const keys = logged.station === undefined ? [ALL] : [ALL, logged.station];
    for (const key of keys) this.#count(key, 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      for (const key of keys) this.#count(key, -1);
    };
  }

  #count(key: string, change: 1 | -1): void {
    const inFlight = (this.#inFlight.get(key) ?? 0) + change;
    this.#inFlight.set(key, inFlight);
    this.#maxInFlight.set(key, Math.max(inFlight, this.maxInFlight(key)));
  }
}

const ALL = '*';

function loggedRequest(head: RequestHead, request: ListingRequest | RejectedRequest, atMs: number): LoggedRequest {
  const listing = 'path' in request ? request : undefined;
  return {
    ...head,
    atMs,
    ...splitTarget(head.target),
    station: listing?.path.telemetryStation,
    offset: listing?.offset,
    size: listing?.size,
  };
}
