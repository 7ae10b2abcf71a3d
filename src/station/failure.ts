/** Why a refresh failed: a closed set, because each one is a label value that rules depend on. */
export const FAILURE_REASONS = [
  'timeout',
  'network',
  'tls',
  'auth',
  'forbidden',
  'not_found',
  'rate_limited',
  'status',
  'body',
  'internal',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * A listing could not be read to its end, for a reason outside this program.
 * The message is for operators: it may quote a bounded piece of the reply, never a credential.
 */
export class ListingFailure extends Error {
  override readonly name = 'ListingFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
