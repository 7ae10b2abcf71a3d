import { describe, expect, it } from 'vitest';
import { explainFailure } from '../../src/diagnosis/explain-failure.ts';
import type { UpstreamFacts } from '../../src/diagnosis/facts.ts';
import { FAILURE_ADVICE, type FailureReason, ListingFailure } from '../../src/model/failure.ts';
import type { UpstreamOptions } from '../../src/service/upstream-options.ts';
import { schemeOf } from '../service/support/client.ts';
import { sessionFor, UPSTREAM } from './fixtures.ts';

const failed = (reason: FailureReason, code?: string, status?: number) => {
  const cause = code === undefined ? undefined : Object.assign(new Error(code), { code });
  const message = 'it failed';
  const error = new ListingFailure(reason, message, { cause });
  return { reason, message, status, error, replies: [{ status: 401 }] };
};

describe('explainFailure', () => {
  it('gives the general explanation of a reason when the cause is unknown', () => {
    const { meaning, advice } = FAILURE_ADVICE.body;
    expect(explainFailure(failed('body'), UPSTREAM)).toMatchObject({ summary: 'body', isTls: false, meaning, advice });
  });

  it.each([
    ['EHOSTUNREACH', 'There is no route from this host to monitor.example.com.'],
    ['ENETUNREACH', 'There is no route from this host to monitor.example.com.'],
    ['EAI_AGAIN', 'The host name of monitor.example.com cannot be resolved.'],
    ['ECONNREFUSED', 'monitor.example.com refused the connection: no process listens on that port.'],
    ['ECONNRESET', 'monitor.example.com closed the connection before the reply was complete.'],
  ])('explains %s', (code, meaning) => {
    expect(explainFailure(failed('network', code), UPSTREAM)).toMatchObject({ isTls: false, meaning });
  });

  const noConnection = new ListingFailure('timeout', 'no connection');

  it.each<readonly [what: string, facts: Partial<UpstreamFacts>, meaning: string]>([
    [
      'while connecting',
      { connection: { ...UPSTREAM.connection, error: noConnection } },
      'No connection to monitor.example.com was established within the timeout.',
    ],
    [
      'of a port that expects TLS',
      { speaksTls: true },
      'monitor.example.com expects TLS on this port, but base_url is an http URL.',
    ],
  ])('explains a timeout %s', (_, facts, meaning) => {
    expect(explainFailure(failed('timeout'), { ...UPSTREAM, ...facts }).meaning).toBe(meaning);
  });

  const secret = { text: 's' };
  const hmac = schemeOf({ hmac: { access_key_id: 'a', secret_access_key: 's' } });
  const oauth2 = schemeOf({ oauth2: { client_id: 'c', client_secret: 's', token_url: 'http://t' } });

  it.each<readonly [what: string, options: Partial<UpstreamOptions>, words: string]>([
    ['a token', { auth: schemeOf({ authorization: { credentials: 's' } }) }, 'the Bearer credentials of authorization'],
    [
      'a password',
      { auth: schemeOf({ basic_auth: { username: 'u', password: 's' } }) },
      'the user name and password of basic_auth',
    ],
    ['a key pair', { auth: hmac }, 'the signature of hmac'],
    ['a client', { auth: oauth2 }, 'the access token of oauth2'],
    ['a header', { headers: [{ name: 'X', value: secret }] }, 'the values of http_headers'],
    [
      'a certificate',
      { tls: { cert_file: 'f', key_file: 'f', insecure_skip_verify: false } },
      'the client certificate',
    ],
  ])('names the scheme in use when %s is rejected or not permitted', (_, options, words) => {
    const facts = { ...UPSTREAM, options: { ...UPSTREAM.options, ...options } };
    const rejected = explainFailure(failed('auth'), facts);
    expect(rejected.meaning).toBe(`The service rejected ${words} (401).`);
    expect(rejected.advice).not.toMatch(/clock|NTP/);
    expect(explainFailure(failed('forbidden'), facts).meaning).toBe(
      `The service accepted ${words}, but the account has no permission to list this station (403).`,
    );
    expect(explainFailure({ ...failed('auth'), replies: [] }, facts).advice).toContain(
      'Check that the credential file exists',
    );
  });

  it.each([
    ['auth', 'The service requires credentials (401), and no credentials are configured.'],
    ['forbidden', 'The service denies access (403), and no credentials are configured.'],
  ] as const)('reports that no credentials are configured (%s)', (reason, meaning) => {
    expect(explainFailure(failed(reason), UPSTREAM)).toMatchObject({
      meaning,
      advice: 'Configure one of authorization, basic_auth, hmac and oauth2 for the upstream.',
    });
  });

  it.each([
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted issuer'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted issuer'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted issuer'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'not yet valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'host name mismatch'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'no TLS on this port'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'no common TLS version'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate required'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'client certificate required'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'client certificate required'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'client certificate rejected'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'client certificate rejected'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client certificate rejected'],
    ['ENOENT', 'unusable file'],
    ['ERR_OSSL_PEM_NO_START_LINE', 'unusable file'],
    ['ERR_SSL_SOMETHING_NEW', 'tls'],
    ['EPROTO', 'tls'],
  ])('explains %s as %s', (code, summary) => {
    const explanation = explainFailure(failed('tls', code), UPSTREAM);
    expect(explanation).toMatchObject({ summary, isTls: true });
    // Without a session no list of names follows.
    expect(explanation.meaning).toMatch(/[a-zA-Z]\.$/);
  });

  it('lists at most five host names of a certificate', () => {
    const session = { ...sessionFor(30), names: ['a', 'b', 'c', 'd', 'e', 'f'] };
    const facts = { ...UPSTREAM, connection: { ...UPSTREAM.connection, session } };
    const { meaning } = explainFailure(failed('tls', 'HOSTNAME_MISMATCH'), facts);
    expect(meaning).toMatch(/: a, b, c, d, e\.$/);
  });

  it('does not speak of a wrong base_url when the service itself fails', () => {
    const adviceFor = (status: number) => explainFailure(failed('status', undefined, status), UPSTREAM).advice;
    expect(adviceFor(503)).not.toMatch(/4xx|redirect|base_url/);
    expect(adviceFor(302)).toContain('base_url');
  });
});
