import type { FailureReason } from '../station/failure.ts';
import type { ListingContext, ListingQuery } from '../station/listing.ts';

/** Told of every request an upstream client sends, retries included. */
export interface RequestObserver {
  /** A request asks for its turn (+1), or has got it or given up (-1). */
  waiting(change: 1 | -1): void;
  started(): void;
  ended(seconds: number, failure: FailureReason | undefined): void;
  retried(): void;
  /** A request has waited so long for its turn, whether it got it or gave up. */
  waited(seconds: number): void;
  /** The service said that it gets too many requests. */
  throttled(): void;
  /** How many requests per second may be sent from now on; Infinity: no limit. */
  limited(requestsPerSecond: number): void;
  /** The service has replied, whatever it said. */
  replied?(answer: ReplyInfo): void;
}

/** What a reply tells beside its body. */
export interface ReplyInfo {
  /** The one that asked. */
  readonly station: string | undefined;
  readonly status: number;
  /** By our clock. */
  readonly sentMs: number;
  readonly receivedMs: number;
  /** By the service's clock, in whole seconds; undefined when it gave no usable `Date`. */
  readonly dateMs: number | undefined;
}

/** Told of what a listing met. */
export interface ListingObserver {
  /** A reply came whole and is no page. */
  unreadable(): void;
  /** Pages were too large for the service; the rest of this refresh asks for so many records. */
  pageSizeReduced(context: ListingContext, pageSize: number): void;
  pageReceived(page: ListedPage): void;
}

/** A page as it came, and what it was a part of. */
export interface ListedPage {
  /** What its records are read for. */
  readonly rows: 'resources' | 'ids';
  readonly query: ListingQuery;
  /** 0 begins a listing, also where the same one was begun before. */
  readonly offset: number;
  /** How many records were asked for. */
  readonly size: number;
  readonly received: number;
  readonly total: number | undefined;
  /** Only there until the observer returns. */
  readonly body: Uint8Array;
}

/** For requests that nobody counts. */
export const noopObserver: RequestObserver = {
  waiting: () => undefined,
  started: () => undefined,
  ended: () => undefined,
  retried: () => undefined,
  waited: () => undefined,
  throttled: () => undefined,
  limited: () => undefined,
};
