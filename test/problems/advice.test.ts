import { describe, expect, it } from 'vitest';
import type { Failure, FailureReason, UpstreamAccess } from '../../src/model/failure.ts';
import { explain } from '../../src/problems/advice.ts';
import type { Circumstances } from '../../src/problems/failure-rules.ts';
import { upstreamAccess } from '../../src/service/upstream-access.ts';
import type { UpstreamOptions } from '../../src/service/upstream-options.ts';
import { CLIENT_OPTIONS, schemeOf } from '../service/support/client.ts';

const accessOf = (options: Partial<UpstreamOptions> = {}): UpstreamAccess =>
  upstreamAccess({ ...CLIENT_OPTIONS, baseUrl: new URL('https://monitor.example.com'), ...options });

const explained = (failure: Partial<Failure> & Pick<Failure, 'reason'>, more: Circumstances = {}) =>
  explain({ message: 'it failed', ...failure }, { access: accessOf(), ...more });

const proxyUrl = new URL('http://user:proxy-secret@proxy.example:3128');
const certificate = { cert_file: 'f', key_file: 'f', insecure_skip_verify: false };

describe('explain', () => {
  it.each<[reason: FailureReason, code: string, short: string, more?: Circumstances]>([
    ['network', 'EAI_AGAIN', 'unknown host'],
    ['network', 'ECONNREFUSED', 'connection refused'],
    ['network', 'ECONNRESET', 'connection closed'],
    ['network', 'ERR_PROXY_TUNNEL', 'refused by proxy'],
    ['network', 'ERR_REPLY_CUT', 'reply cut off'],
    ['network', 'HTTPParserError', 'connection failed'],
    ['timeout', 'UND_ERR_CONNECT_TIMEOUT', 'connect timeout', { silence: 'station' }],
    ['tls', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted issuer'],
    ['tls', 'SELF_SIGNED_CERT_IN_CHAIN', 'untrusted issuer'],
    ['tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted issuer'],
    ['tls', 'CERT_HAS_EXPIRED', 'certificate expired'],
    ['tls', 'CERT_NOT_YET_VALID', 'certificate not yet valid'],
    ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID', 'host name mismatch'],
    ['tls', 'ERR_SSL_WRONG_VERSION_NUMBER', 'no TLS on this port'],
    ['tls', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate required'],
    // OpenSSL 3.2 renamed SSLV3 to SSL/TLS in these codes.
    ['tls', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'client certificate required'],
    ['tls', 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'client certificate required'],
    ['tls', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client certificate required'],
    ['tls', 'ENOENT', 'unusable TLS file'],
    ['tls', 'ERR_OSSL_PEM_NO_START_LINE', 'unusable TLS file'],
    ['tls', 'ERR_SSL_SOMETHING_NEW', 'TLS handshake failed'],
    ['tls', 'EPROTO', 'TLS handshake failed'],
  ])('explains %s with %s as %s', (reason, code, short, more = {}) => {
    const explanation = explained({ reason, codes: ['outer', code] }, more);
    expect(explanation.short).toBe(short);
    for (const text of [explanation.meaning, explanation.advice]) expect(text).toMatch(/^[^{}]*[a-zA-Z):/]\.$/);
  });

  it('names the proxy, but not its password', () => {
    const access = accessOf({ proxyUrl });
    expect(JSON.stringify(access)).not.toContain('secret');
    const throughProxy = (code: string) =>
      explained({ reason: 'network', codes: [code], proxy: proxyUrl.host }, { access });
    expect(throughProxy('ERR_PROXY_TUNNEL').meaning).toBe(
      'The proxy proxy.example:3128 did not open a tunnel to monitor.example.com.',
    );
    expect(throughProxy('ENOTFOUND').advice).toContain('proxy_url');
    expect(explained({ reason: 'network', codes: ['ENOTFOUND'] }, { access }).advice).toContain('base_url');
  });

  it('does not advise to wait longer for a service that never answered', () => {
    expect(explained({ reason: 'timeout' }).advice).toMatch(/^If the service never answers, /);
    expect(explained({ reason: 'timeout' }, { silence: 'service' }).advice).toMatch(/^Check base_url, /);
    const station = explained({ reason: 'timeout' }, { silence: 'station' });
    expect(station.meaning).toContain('does for others of the upstream');
    expect(station.advice).not.toContain('firewall');
  });

  const secret = { text: 's' };

  it.each<readonly [what: string, options: Partial<UpstreamOptions>, words: string]>([
    ['a token', { auth: schemeOf({ authorization: { credentials: 's' } }) }, 'the Bearer credentials of authorization'],
    [
      'a password',
      { auth: schemeOf({ basic_auth: { username: 'u', password: 's' } }) },
      'the user name and password of basic_auth',
    ],
    [
      'a key pair',
      { auth: schemeOf({ hmac: { access_key_id: 'a', secret_access_key: 's' } }) },
      'the signature of hmac',
    ],
    [
      'a client',
      { auth: schemeOf({ oauth2: { client_id: 'c', client_secret: 's', token_url: 'http://t' } }) },
      'the access token of oauth2',
    ],
    ['a header', { headers: [{ name: 'X', value: secret }] }, 'the values of http_headers'],
    ['a certificate', { tls: certificate }, 'the client certificate'],
  ])('names the scheme in use when %s is rejected, not permitted or not obtained', (_, options, words) => {
    const access = accessOf(options);
    const rejected = explained({ reason: 'auth', status: 401, isAnswered: true }, { access });
    expect(rejected.meaning).toBe(`The service rejected ${words} (401).`);
    expect(rejected.advice).not.toMatch(/clock|NTP/);
    expect(explained({ reason: 'forbidden' }, { access }).meaning).toBe(
      `The service accepted ${words}, but the account has no permission to list this station (403).`,
    );
    // The token endpoint may have answered with a 401 too.
    const unobtained = explained({ reason: 'auth', status: 401, isAnswered: false }, { access });
    expect(unobtained.short).toBe('no credentials');
    expect(unobtained.advice).toContain('Check that the credential file exists');
    expect(unobtained.advice).not.toMatch(/401|hmac/);
  });

  it.each([
    { reason: 'auth', answer: '401 Unauthorized', word: 'iat', about: 'as expired or not yet valid' },
    { reason: 'forbidden', answer: '403 Forbidden', word: 'scope', about: 'it lacks a scope' },
  ] as const)('finds $word in the reply, but not in the name of the host', ({ reason, answer, word, about }) => {
    const auth = schemeOf({ oauth2: { client_id: 'c', client_secret: 's', token_url: 'http://t' } });
    const meaningOf = (host: string, reply: string) =>
      explained(
        { reason, isAnswered: true, message: `${host} answered ${answer}: ${reply}` },
        { access: accessOf({ auth }) },
      ).meaning;
    expect(meaningOf(`${word}.example.com`, 'denied')).not.toContain(about);
    expect(meaningOf('monitor.example.com', `invalid ${word}`)).toContain(about);
  });

  it('names the clock where it is why signatures are rejected', () => {
    const rejected = (clockDifferenceMs: number) =>
      explained(
        { reason: 'auth', isAnswered: true, clockDifferenceMs },
        { access: accessOf({ headers: [{ name: 'X', value: secret }] }) },
      );
    expect(rejected(-60_000).short).toBe('401 Unauthorized');
    expect(rejected(-61_000)).toMatchObject({
      short: 'clock difference',
      meaning: expect.stringContaining("The local clock is 61 s behind the service's"),
    });
  });

  it.each([
    ['auth', 'The service requires credentials (401), and no credentials are configured.'],
    ['forbidden', 'The service denies access (403), and no credentials are configured.'],
  ] as const)('reports that no credentials are configured (%s)', (reason, meaning) => {
    expect(explained({ reason, isAnswered: true })).toMatchObject({
      meaning,
      advice: 'Configure one of authorization, basic_auth, hmac and oauth2 for the upstream.',
    });
  });

  it('does not speak of a wrong base_url when the service itself fails', () => {
    const failed = (status: number) => explained({ reason: 'status', status });
    expect([failed(503).short, failed(520).short]).toEqual(['503 Service Unavailable', '520']);
    expect(explained({ reason: 'status' }).short).toBe('error status');
    expect(failed(503).advice).not.toMatch(/4xx|redirect|base_url/);
    expect(failed(503).advice).toMatch(/^If the service is in maintenance, wait: /);
    expect(failed(413).advice).toMatch(/message limit/);
    expect(failed(302).advice).toContain('base_url');
    expect(failed(302).advice).not.toContain('5xx');
  });
});
