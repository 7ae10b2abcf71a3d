import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AuthCheck, authProblem } from './auth.ts';

const NOW = Date.UTC(2026, 4, 13, 12);
const DATE = 'Wed, 13 May 2026 12:00:00 GMT';

function problem(check: AuthCheck, headers: Record<string, string>, atMs = NOW): string | undefined {
  return authProblem(check, { method: 'GET', url: '/a%20b?x=1', headers }, atMs);
}

describe('authProblem with hmac', () => {
  const keys = { access_key_id: 'AK', secret_access_key: 'SK', signed_headers: ['x-date'] };
  const check: AuthCheck = { hmac: keys };

  function signed(list: string, text: string, { key = 'AK', secret = 'SK' } = {}): string {
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    return `hmac accesskey="${key}", algorithm="hmac-sha256", headers="${list}", signature="${signature}"`;
  }

  it('accepts a signature computed by another implementation', () => {
    const authorization =
      'hmac accesskey="AK", algorithm="hmac-sha256", headers="x-date", signature="kqP2JDbQB3QGTML7WA6is31WFT9WKw9kcH1W23kqhJU="';
    expect(problem(check, { 'x-date': DATE, authorization })).toBeUndefined();
  });

  const dated = (pair = {}) => ({ 'x-date': DATE, authorization: signed('x-date', `x-date: ${DATE}`, pair) });

  it('rejects another key, another secret and a malformed header', () => {
    expect(problem(check, dated({ key: 'other' }))).toBe('Invalid authentication credentials');
    expect(problem(check, dated({ secret: 'other' }))).toBe('HMAC signature does not match');
    expect(problem(check, { authorization: 'Bearer t' })).toBe('HMAC signature cannot be verified');
  });

  it('rejects a signature without the required headers', () => {
    const enforced = { hmac: { ...keys, signed_headers: ['x-date', 'request-line'] } };
    expect(problem(enforced, dated())).toBe('enforced header not used for HMAC Authentication');
  });

  it('allows 300 s of clock skew', () => {
    expect(problem(check, dated(), NOW + 300_000)).toBeUndefined();
    expect(problem(check, dated(), NOW - 300_001)).toMatch(/a valid date or x-date header is required/);
  });

  it('rejects a request without a date', () => {
    const enforced = { hmac: { ...keys, signed_headers: ['host'] } };
    expect(problem(enforced, { host: 'h', authorization: signed('host', 'host: h') })).toMatch(
      /a valid date or x-date header is required/,
    );
  });
});
