import { errors } from 'undici';
import { errorReason, errorText } from './error-reason.ts';
import { RequestFailure } from './request-failure.ts';

/** The failure behind an error of a connection; an error that nothing outside this program explains stays what it is. */
export function transportFailure<E>(peer: string, error: E): E | RequestFailure {
  const reason = errorReason(error);
  if (error instanceof RequestFailure || reason === undefined) return error;
  // The parser's error carries the reply along, which may repeat a secret.
  const cause = error instanceof errors.HTTPParserError ? undefined : error;
  return new RequestFailure(reason, `${peer}: ${errorText(error)}`, { retryable: reason !== 'tls' }, { cause });
}
