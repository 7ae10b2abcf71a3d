import { describe, expect, it } from 'vitest';
import { failureOf, ListingFailure } from '../../src/model/failure.ts';

describe('failureOf', () => {
  it('takes whatever else is thrown for an internal failure', () => {
    const error = 'a text thrown';
    expect(failureOf(error)).toEqual({ reason: 'internal', message: error, codes: [], isAnswered: false, error });
  });

  it('has the codes of all causes, and knows a reply of the service from that of another server', () => {
    const cause = Object.assign(new Error('c', { cause: Object.assign(new Error(), { code: 'EINNER' }) }), {
      code: 'EOUTER',
    });
    const failure = failureOf(new ListingFailure('auth', 'm', { cause, replyStatus: 401 }));
    expect(failure).toMatchObject({ status: 401, codes: ['EOUTER', 'EINNER'], isAnswered: false });
    expect(failureOf(new ListingFailure('auth', 'm', { status: 401 }))).toMatchObject({
      status: 401,
      isAnswered: true,
    });
  });
});
