import type { FailureReason } from '../station/failure.ts';
import type { ListingContext } from '../station/listing.ts';

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
  answered?(answer: Answer): void;
}

/** What a reply tells beside its body. */
export interface Answer {
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
}
