import { describe, expect, it } from 'vitest';
import { replyFailure } from '../../src/upstream/reply-failure.ts';

const CONTEXT = { endpoint: 'monitor.example.com', secrets: ['t0ken'], nowMs: 0 };

const failure = (status: number, body = '', headers = {}) => replyFailure({ status, headers, body: Buffer.from(body) }, CONTEXT);

describe('replyFailure', () => {
  it('tells the status and what the body says', () => {
    expect(failure(403, '{"code":7,"message":"not yours"}')).toMatchObject({
      reason: 'forbidden',
      message: 'monitor.example.com answered 403 Forbidden: code 7: not yours',
      retryable: false,
      unauthorized: false,
    });
  });

  it('tells a status that has no name', () => {
    expect(failure(599).message).toBe('monitor.example.com answered 599: empty body');
  });

  it('tells where a redirect leads, for it is not followed', () => {
    const message = 'monitor.example.com answered 302 Found: redirects are not followed (location:';
    expect(failure(302, '<html>', { location: 'https://login?token=t0ken' }).message).toBe(`${message} https://login?token=<secret>)`);
    expect(failure(302).message).toBe(`${message} none)`);
  });

  it('does not show an encoded body', () => {
    expect(failure(500, '\u001f\u008b', { 'content-encoding': 'gzip' }).message).toMatch(/: body with a content-encoding, not shown$/);
  });

  it('hides a secret that the body repeats', () => {
    expect(failure(401, '{"error":"bad token: Bearer t0ken"}').message).toMatch(/bad token: Bearer <secret>$/);
  });

  it('adds a hint', () => {
    const reply = { status: 401, headers: {}, body: Buffer.alloc(0) };
    expect(replyFailure(reply, { ...CONTEXT, hint: 'look at the clock' }).message).toMatch(/: empty body; look at the clock$/);
  });

  it('advises another try after 408, 429 and 5xx alone, and after what wait', () => {
    const retryable = [301, 400, 401, 404, 408, 409, 429, 500, 503, 599].filter((status) => failure(status).retryable);
    expect(retryable).toEqual([408, 429, 500, 503, 599]);
    expect(failure(429, '', { 'retry-after': '5' }).retryAfterMs).toBe(5000);
    expect(failure(401)).toMatchObject({ unauthorized: true });
  });

  it('tells a service that has too many requests by 429 and by Retry-After', () => {
    const throttled = (status: number, headers = {}) => failure(status, '', headers).throttled;
    expect([throttled(429), throttled(503, { 'retry-after': '5' })]).toEqual([true, true]);
    const others = [throttled(503), throttled(503, { 'retry-after': 'soon' }), throttled(413), throttled(404, { 'retry-after': '5' })];
    expect(others).toEqual([false, false, false, false]);
  });

  it('tells a page that may be too large by 413, and by 429 without a usable Retry-After', () => {
    const tooLarge = (status: number, headers = {}) => failure(status, '', headers).tooLarge;
    expect([tooLarge(413), tooLarge(413, { 'retry-after': '5' }), tooLarge(429), tooLarge(429, { 'retry-after': '-1' })]).toEqual([
      ...[true, true, true, true],
    ]);
    expect([tooLarge(429, { 'retry-after': '0' }), tooLarge(414), tooLarge(500)]).toEqual([false, false, false]);
  });
});
