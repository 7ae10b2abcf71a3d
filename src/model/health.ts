import type { failureOf } from './failure.ts';

export interface Health {
  /** undefined: never attempted. */
  readonly lastAttemptMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number | undefined;
  /** Why the latest attempt failed; undefined: it succeeded, or there was none. */
  readonly failure: ReturnType<typeof failureOf> | undefined;
}
