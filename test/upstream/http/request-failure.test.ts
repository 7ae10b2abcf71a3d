import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { errorReason, errorText } from '../../../src/upstream/http/request-failure.ts';

describe('errorReason', () => {
  it.each([
    [
      'timeout',
      [
        'ETIMEDOUT',
        'ERR_SOCKET_CONNECTION_TIMEOUT',
        'UND_ERR_CONNECT_TIMEOUT',
        'UND_ERR_HEADERS_TIMEOUT',
        'UND_ERR_BODY_TIMEOUT',
      ],
    ],
    [
      'tls',
      [
        'CERT_HAS_EXPIRED',
        'CERT_NOT_YET_VALID',
        'CERT_REVOKED',
        'CERT_UNTRUSTED',
        'CRL_HAS_EXPIRED',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'SELF_SIGNED_CERT_IN_CHAIN',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
        'ERROR_IN_CERT_NOT_AFTER_FIELD',
        'INVALID_CA',
        'INVALID_PURPOSE',
        'PATH_LENGTH_EXCEEDED',
        'HOSTNAME_MISMATCH',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'ERR_SSL_WRONG_VERSION_NUMBER',
        'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
        'ERR_OSSL_PEM_NO_START_LINE',
        'EPROTO',
      ],
    ],
    [
      'network',
      [
        'ECONNREFUSED',
        'ECONNRESET',
        'EPIPE',
        'EHOSTUNREACH',
        'ENOTFOUND',
        'EAI_AGAIN',
        'UND_ERR_SOCKET',
        'UND_ERR_HEADERS_OVERFLOW',
        'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      ],
    ],
    [undefined, ['ERR_INVALID_ARG_TYPE', 'UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED', '']],
  ])('is %s for its error codes', (reason, codes) => {
    expect(codes.filter((code) => errorReason(Object.assign(new Error('it broke'), { code })) !== reason)).toEqual([]);
  });

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
