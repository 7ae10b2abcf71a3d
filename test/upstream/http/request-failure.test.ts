import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { errorReason, errorText } from '../../../src/upstream/http/request-failure.ts';

describe('errorReason', () => {
  it('finds the reason in the chain of causes', () => {
    const root = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
    expect(errorReason(new Error('outer', { cause: new Error('middle', { cause: root }) }))).toBe('tls');
  });

  it('recognises the error classes of undici', () => {
    expect(errorReason(new errors.ConnectTimeoutError())).toBe('timeout');
    expect(errorReason(new errors.SocketError('closed'))).toBe('network');
    expect(errorReason(new errors.HTTPParserError('no HTTP'))).toBe('network');
    expect(errorReason(new errors.InvalidArgumentError())).toBeUndefined();
  });

  it('is undefined for an internal error', () => {
    expect(errorReason(new TypeError('x is not a function'))).toBeUndefined();
    expect(errorReason('thrown text')).toBeUndefined();
  });
});

describe('errorText', () => {
  it('returns the message', () => {
    expect(errorText(new Error('read ECONNRESET'))).toBe('read ECONNRESET');
  });

  it('returns library and reason of an OpenSSL error', () => {
    const error = Object.assign(
      new Error('80:error:0A:SSL routines:ssl3_get_record:wrong version number:record.c:350:\n'),
      {
        library: 'SSL routines',
        reason: 'wrong version number',
      },
    );
    expect(errorText(error)).toBe('SSL routines: wrong version number');
  });

  it('joins the errors of all addresses', () => {
    expect(errorText(new AggregateError([new Error('connect ::1'), 'odd']))).toBe('connect ::1; odd');
    expect(errorText(new AggregateError([], 'all failed'))).toBe('all failed');
  });
});
