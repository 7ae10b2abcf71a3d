import type { FailureReason } from '../model/failure.ts';
import type { QueryFilters, RefreshContext, StationPath } from '../model/listing.ts';

/** Observes every request of an upstream client, retries included. */
export interface RequestObserver {
  /** A request enters the queue (+1) or leaves it, admitted or aborted (-1). */
  waiting(change: 1 | -1): void;
  started(): void;
  ended(seconds: number, failure: FailureReason | undefined): void;
  retried(): void;
  /** The service rejected a request because of its rate limit, with status 429 or 503. */
  throttled(status: number): void;
}

/** Observes the pages of listings. */
export interface ListingObserver {
  /** A complete 2xx reply could not be read: it is not a page, or the refresh timed out meanwhile. */
  readFailed(reason: FailureReason): void;
  /** The service rejected a page as too large, or as it may be; pages of this size are requested instead. */
  pageSizeReduced(context: RefreshContext, pageSize: number): void;
  pageReceived(page: ListedPage): void;
}

/** A page as received, with the request it answers. */
export interface ListedPage {
  /** The name of its kind. */
  readonly kind: string;
  readonly query: { readonly path: StationPath; readonly filters: QueryFilters };
  /** 0 starts a listing, also when the same one is listed once more. */
  readonly offset: number;
  /** The requested number of records. */
  readonly size: number;
  readonly received: number;
  readonly total: number | undefined;
  /** Valid until the observer returns. */
  readonly body: Uint8Array;
}
