import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AuthCheck, authProblem, tokenReply } from '../../src/simulator/auth.ts';

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

describe('tokenReply', () => {
  const check = { oauth2: { client_id: 'a b', client_secret: 's:e&t' } };
  const inHeader = { authorization: `Basic ${Buffer.from('a+b:s%3Ae%26t').toString('base64')}` };
  const grant = { grant_type: 'client_credentials' };
  const reply = (method: string, headers: Record<string, string>, form: Record<string, string>) =>
    tokenReply(check.oauth2, { method, url: '/oauth2/token', headers }, new URLSearchParams(form), NOW);
  const tokenOf = ({ body }: { body: Uint8Array }) => JSON.parse(Buffer.from(body).toString()).access_token as string;

  it.each([
    ['the header', inHeader, grant],
    ['the form', {}, { ...grant, client_id: 'a b', client_secret: 's:e&t' }],
  ])('issues a token for an id and a secret in %s', (_where, headers, form) => {
    const issued = reply('POST', headers as Record<string, string>, form);
    expect(issued.status).toBe(200);
    const authorization = `Bearer ${tokenOf(issued)}`;
    expect(problem(check, { authorization })).toBeUndefined();
    expect(problem(check, { authorization }, NOW + 299_999)).toBeUndefined();
    expect(problem(check, { authorization }, NOW + 300_000)).toBe('The access token is invalid or expired');
  });

  it('rejects other clients, grants and methods', () => {
    expect(reply('POST', {}, grant).status).toBe(401);
    expect(reply('POST', { authorization: 'Basic eDp5' }, grant).status).toBe(401);
    expect(reply('POST', inHeader, { grant_type: 'password' }).status).toBe(400);
    expect(reply('GET', inHeader, grant)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  it('accepts no other token', () => {
    expect(problem(check, { authorization: 'Bearer x' })).toBeDefined();
    expect(problem(check, {})).toBe('Unauthorized');
  });
});
