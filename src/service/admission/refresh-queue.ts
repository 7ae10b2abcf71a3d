import type { RefreshContext } from '../../model/listing.ts';
import type { UpstreamLoad } from '../../model/upstream-load.ts';

/** Each request of a refresh carries the same object. */
export type QueuedRefresh = Pick<RefreshContext, 'station' | 'outdatedAtMs' | 'started' | 'waiting' | 'signal'>;

/** A refresh and its waiting requests, in order of arrival. */
export interface WaitingRefresh<Request> {
  readonly refresh: QueuedRefresh;
  readonly requests: Set<Request>;
  /** When its first request was queued. */
  readonly sinceMs: number;
  /** Decides between stations without data, which are created together. */
  readonly tieBreaker: number;
  /** How many refreshes had started before it; undefined: it has not started. */
  start: number | undefined;
}

/** Distributes neighbours evenly: after a start all stations are due at once, and those of one zone, which often hang together, are neighbours. */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

/**
 * The order in which waiting requests are admitted: those of started refreshes first, in the order of their starts; then refreshes of the
 * stations with the oldest data. Aborted refreshes are skipped.
 */
export class RefreshQueue<Request> {
  /** The refreshes with waiting requests, in this order. */
  readonly #waiting: WaitingRefresh<Request>[] = [];
  readonly #refreshes = new WeakMap<QueuedRefresh, WaitingRefresh<Request>>();
  #arrivals = 0;
  #starts = 0;

  add(refresh: QueuedRefresh, request: Request, nowMs: number): void {
    const waiting = this.#refreshes.get(refresh) ?? this.#arrived(refresh, nowMs);
    if (waiting.requests.size === 0) this.#insert(waiting);
    waiting.requests.add(request);
  }

  delete(refresh: QueuedRefresh, request: Request): void {
    const waiting = this.#refreshes.get(refresh);
    if (waiting?.requests.delete(request) && waiting.requests.size === 0) this.#remove(waiting);
  }

  has(refresh: QueuedRefresh): boolean {
    return (this.#refreshes.get(refresh)?.requests.size ?? 0) > 0;
  }

  /** The next refresh of a station that may send a request. */
  first(mayStationSend: (station: string) => boolean): WaitingRefresh<Request> | undefined {
    return this.#waiting.find(({ refresh }) => !refresh.signal.aborted && mayStationSend(refresh.station));
  }

  /** Takes out the refresh's first request; the refresh has started now. */
  take(waiting: WaitingRefresh<Request>): Request | undefined {
    const [request] = waiting.requests;
    this.#remove(waiting);
    if (waiting.start === undefined) {
      waiting.start = this.#starts;
      this.#starts += 1;
    }
    if (request !== undefined) waiting.requests.delete(request);
    if (waiting.requests.size > 0) this.#insert(waiting);
    return request;
  }

  takeAll(): Request[] {
    return this.#waiting.splice(0).flatMap(({ requests }) => {
      const all = Array.from(requests);
      requests.clear();
      return all;
    });
  }

  load(nowMs: number): Pick<UpstreamLoad, 'waitingRefreshes' | 'oldestWaitingMs'> {
    const unstarted = this.#waiting.filter(({ start }) => start === undefined);
    const sinceMs = unstarted.reduce((oldest, waiting) => Math.min(oldest, waiting.sinceMs), nowMs);
    return { waitingRefreshes: unstarted.length, oldestWaitingMs: nowMs - sinceMs };
  }

  #arrived(refresh: QueuedRefresh, sinceMs: number): WaitingRefresh<Request> {
    const tieBreaker = (this.#arrivals * GOLDEN_RATIO) % 1;
    this.#arrivals += 1;
    const waiting = { refresh, requests: new Set<Request>(), sinceMs, tieBreaker, start: undefined };
    this.#refreshes.set(refresh, waiting);
    return waiting;
  }

  /** By binary search: thousands of refreshes may become due at once. */
  #insert(waiting: WaitingRefresh<Request>): void {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (isBefore(waiting, this.#waiting[middle] as WaitingRefresh<Request>)) to = middle;
      else from = middle + 1;
    }
    this.#waiting.splice(from, 0, waiting);
  }

  #remove(waiting: WaitingRefresh<Request>): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
  }
}

function isBefore(a: WaitingRefresh<unknown>, b: WaitingRefresh<unknown>): boolean {
  if (a.start !== b.start) return (a.start ?? Number.POSITIVE_INFINITY) < (b.start ?? Number.POSITIVE_INFINITY);
  const [aMs, bMs] = [a.refresh.outdatedAtMs, b.refresh.outdatedAtMs];
  return aMs === bMs ? a.tieBreaker < b.tieBreaker : aMs < bMs;
}
