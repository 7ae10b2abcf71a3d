import { describe, expect, it } from 'vitest';
import {
  describeErrorBody,
  errorReason,
  errorText,
  replyFailure,
  retryAfterMs,
} from '../../src/service/request-failure.ts';

describe('errorReason', () => {
  it.each([
    ['timeout', ['ETIMEDOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']],
    [
      'tls',
      [
        'CERT_HAS_EXPIRED',
        'CRL_HAS_EXPIRED',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'ERROR_IN_CERT_NOT_AFTER_FIELD',
        'INVALID_CA',
        'PATH_LENGTH_EXCEEDED',
        'HOSTNAME_MISMATCH',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'ERR_SSL_WRONG_VERSION_NUMBER',
        'ERR_OSSL_PEM_NO_START_LINE',
        'EPROTO',
      ],
    ],
    ['network', ['ECONNREFUSED', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_OVERFLOW']],
    [undefined, ['ERR_INVALID_ARG_TYPE', 'UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', '']],
  ])('is %s for its error codes', (reason, codes) => {
    expect(codes.filter((code) => errorReason(Object.assign(new Error('it broke'), { code })) !== reason)).toEqual([]);
  });

  it('finds the reason in the chain of causes', () => {
    const root = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
    expect(errorReason(new Error('outer', { cause: new Error('middle', { cause: root }) }))).toBe('tls');
  });

  it('is undefined for an internal error', () => {
    expect(errorReason(new TypeError('x is not a function'))).toBeUndefined();
    expect(errorReason('thrown text')).toBeUndefined();
  });
});

describe('errorText', () => {
  const openSsl = { library: 'SSL routines', reason: 'wrong version number' };

  it.each([
    ['the message', new Error('read ECONNRESET'), 'read ECONNRESET'],
    [
      'library and reason of an OpenSSL error',
      Object.assign(
        new Error('80:error:0A:SSL routines:ssl3_get_record:wrong version number:record.c:350:\n'),
        openSsl,
      ),
      'SSL routines: wrong version number',
    ],
    ['the errors of all addresses', new AggregateError([new Error('connect ::1'), 'odd']), 'connect ::1; odd'],
    ['the message of an error without addresses', new AggregateError([], 'all failed'), 'all failed'],
  ])('is %s', (_what, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});

const NOT_SHOWN = 'not shown, because it repeats a secret';

const CONTEXT = { endpoint: 'monitor.example.com', secrets: ['t0ken'], nowMs: 0 };

const failure = (status: number, body = '', headers = {}) =>
  replyFailure({ status, headers, body: Buffer.from(body) }, CONTEXT);

describe('replyFailure', () => {
  it.each([
    [403, '{"code":7,"message":"not yours"}', {}, '403 Forbidden: code 7: not yours'],
    [599, '', {}, '599: empty body'],
    [302, '<', { location: 'https://login' }, '302 Found: redirects are not followed (location: https://login)'],
    [302, '', { location: 'https://login?token=t0ken' }, `302 Found: ${NOT_SHOWN}`],
    [
      500,
      '\u001f\u008b',
      { 'content-encoding': 'gzip' },
      '500 Internal Server Error: body with content-encoding gzip, not shown',
    ],
    [401, '{"error":"bad token: Bearer t0ken"}', {}, `401 Unauthorized: ${NOT_SHOWN}`],
    [401, '', { 'www-authenticate': 'Bearer realm="a"' }, '401 Unauthorized: Bearer realm="a"'],
    [401, '', { 'www-authenticate': 'Bearer t0ken' }, `401 Unauthorized: ${NOT_SHOWN}`],
    // Neither is a secret that the end of a long title would cut.
    [403, `<title>${'x'.repeat(98)}t0ken</title>`, {}, `403 Forbidden: an HTML or XML page (118 bytes): ${NOT_SHOWN}`],
  ])('describes a %i with the body %j and the headers %j', (status, body, headers, text) => {
    expect(failure(status, body, headers)).toMatchObject({ status, message: `monitor.example.com answered ${text}` });
  });

  it('has a reason of its own for 401, 403, 404 and 429 only', () => {
    const reasons = [401, 403, 404, 429, 302, 400, 408, 418, 500, 503].map((status) => failure(status).reason);
    expect(reasons).toEqual(['auth', 'forbidden', 'not_found', 'rate_limited', ...Array(6).fill('status')]);
  });

  it('has a clock difference, in the message from a minute on', () => {
    const reply = { status: 401, headers: {}, body: Buffer.alloc(0) };
    const differing = (clockDifferenceMs: number) => replyFailure(reply, { ...CONTEXT, clockDifferenceMs });
    expect(differing(60_000).message).toMatch(/: empty body$/);
    expect(differing(61_000).message).toMatch(/: empty body; the local clock is 61 s ahead of the service's, /);
    expect(differing(61_000)).toMatchObject({ details: { clockDifferenceMs: 61_000 } });
  });

  it('is retryable only for 408, 409, 429, 499 and 5xx but 501, with the delay of Retry-After', () => {
    const statuses = [301, 400, 401, 404, 408, 409, 429, 499, 500, 501, 503, 599];
    expect(statuses.filter((status) => failure(status).retryable)).toEqual([408, 409, 429, 499, 500, 503, 599]);
    expect(failure(429, '', { 'retry-after': '5' }).retryAfterMs).toBe(5000);
  });

  const RETRY_INFO = { '@type': 'type.googleapis.com/google.rpc.RetryInfo' };
  it.each([
    { details: [{}, { ...RETRY_INFO, retry_delay: '1.5s' }] },
    { details: [{ ...RETRY_INFO, retryDelay: '1.5s' }] },
    { headers: { 'grpc-metadata-retry-after': '1.5' } },
  ])('takes the delay of gRPC for Retry-After: %j', ({ details, headers = {} }) => {
    expect(failure(429, JSON.stringify({ code: 8, details }), headers).retryAfterMs).toBe(1500);
  });

  it.each([
    'grpc: received message larger than max (6157222 vs. 4194304)',
    'grpc: trying to send message larger than max (6157222 vs. 4194304)',
    'grpc: received message after decompression larger than max 4194304',
    'gRPC message exceeds maximum size 4194304: 6157222',
    'Received message that decompresses to a size larger than 4194304',
    'message size 6157222 is larger than configured max 4194304',
  ])('is a 413 for a 429 that says: %s', (message) => {
    const body = JSON.stringify({ code: 8, message });
    expect(failure(429, body)).toMatchObject({ reason: 'status', status: 413, retryable: false });
    expect(failure(429, body).message).toMatch(/ answered 429 Too Many Requests: code 8: .*(4194304|6157222)/);
  });
});

describe('a page above the message limit of gRPC for Rust', () => {
  it('is a 413, although the status is that of an invalid argument', () => {
    const message = 'Error, decoded message length too large: found 6157222 bytes, the limit is: 4194304 bytes';
    expect(failure(400, JSON.stringify({ code: 11, message })).status).toBe(413);
    expect(failure(400, JSON.stringify({ code: 3, message })).status).toBe(400);
  });
});

const PAGE = '\n<!doctype html><title>Bad gateway</title>';
const DETAILS = [
  { '@type': 'x', reason: 'TOKEN_EXPIRED' },
  { '@type': 'no reason' },
  null,
  'text',
  { reason: 'OTHER' },
];

describe('describeErrorBody', () => {
  it.each([
    [
      { code: 16, message: 'who are you?', details: DETAILS },
      'code 16, reason TOKEN_EXPIRED, reason OTHER: who are you?',
    ],
    [
      { code: 3, details: [{ fieldViolations: [{ field: 'page.size', description: 'too large' }, { field: 'f' }] }] },
      'code 3, page.size: too large, f',
    ],
    [{ details: ['a', 'b', 'c', 'd'].map((reason) => ({ reason })) }, 'reason a, reason b, reason c'],
    [{ error: { code: 'Denied', message: 'no access' } }, 'code Denied: no access'],
    [{ error: 'invalid_client', error_description: 'unknown client' }, 'invalid_client, unknown client'],
    [{ code: 14 }, 'code 14'],
    // Another shape.
    [{ message: '', fault: true }, '{"message":"","fault":true}'],
    [['a'], '["a"]'],
    // No JSON.
    [' \n', 'empty body'],
    ['<Error><Code>AccessDenied</Code></Error>', 'an HTML or XML page (40 bytes), possibly from a proxy'],
    [PAGE, `an HTML or XML page (${PAGE.length} bytes): Bad gateway`],
    ['<title> </title><h1>\n<b>It&apos;s</b>\nclosed</h1>', "an HTML or XML page (49 bytes): It's closed"],
    ['<title>403 &#8211; it&#x27;s &#0;&copy;</title>', "an HTML or XML page (47 bytes): 403 – it's &#0;&copy;"],
    [`<h1>${'y'.repeat(101)}</h1>`, `an HTML or XML page (110 bytes): ${'y'.repeat(100)}…`],
    ['upstream connect error', 'upstream connect error'],
  ])('of %j is %j', (body, text) => {
    expect(describeErrorBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))).toBe(text);
  });
});

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('retryAfterMs', () => {
  it.each([
    ['120', 120_000],
    [' 3 ', 3000],
    ['1.5', 1500],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    // At most ten minutes.
    ['99999999999999999999999999', 600_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 600_000],
    // The first of several headers.
    [['7', '9'], 7000],
    ...[undefined, '', '-5', '1e3', '0x10', 'Sunny day', '2030-01-01'].map((header) => [header, undefined] as const),
  ] as const)('of %j is %j', (header, expected) => {
    expect(retryAfterMs(header as string, NOW_MS)).toBe(expected);
  });
});
