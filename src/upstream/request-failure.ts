import { type FailureReason, ListingFailure } from '../station/failure.ts';

interface RetryAdvice {
  /** The same request may succeed a little later. */
  readonly retryable?: boolean;
  /** The service asked for at least this wait. */
  readonly retryAfterMs?: number | undefined;
  /** The service did not accept who we say we are. */
  readonly unauthorized?: boolean;
  /** The service gets more requests than it takes. */
  readonly throttled?: boolean;
  /** Less may be given where this much was not. */
  readonly tooLarge?: boolean;
}

/** One request failed for a reason outside this program; says too whether another try makes sense. */
export class RequestFailure extends ListingFailure {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly unauthorized: boolean;
  readonly throttled: boolean;
  readonly tooLarge: boolean;

  constructor(reason: FailureReason, message: string, advice: RetryAdvice = {}, options?: ErrorOptions) {
    super(reason, message, options);
    this.retryable = advice.retryable ?? false;
    this.retryAfterMs = advice.retryAfterMs;
    this.unauthorized = advice.unauthorized ?? false;
    this.throttled = advice.throttled ?? false;
    this.tooLarge = advice.tooLarge ?? false;
  }
}
