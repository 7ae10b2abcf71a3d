import type { FailureReason } from '../station/failure.ts';

/** Told of every request an upstream client sends, retries included. */
export interface RequestObserver {
  /** A request asks for its turn (+1), or has got it or given up (-1). */
  waiting(change: 1 | -1): void;
  started(): void;
  ended(seconds: number, failure: FailureReason | undefined): void;
  retried(): void;
}
