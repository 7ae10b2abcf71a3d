import type { failureOf } from './failure.ts';
import type { CachedReply } from './listing.ts';

export interface Health {
  /** When the exporter added the station. */
  readonly addedMs: number;
  /** undefined: never attempted. */
  readonly lastAttemptMs: number | undefined;
  /** Earlier than the end of that refresh by the age of replies that came from a cache. */
  readonly lastSuccessMs: number | undefined;
  /** The oldest reply of the last successful refresh; undefined: none came from a cache. */
  readonly cached?: CachedReply | undefined;
  readonly durationMs: number | undefined;
  /** Why the latest attempt failed; undefined: it succeeded, or there was none. */
  readonly failure: ReturnType<typeof failureOf> | undefined;
  /** The message of the first failure in a row with the reason and status of the latest one: later ones may name other requests. */
  readonly firstMessage: string | undefined;
}
