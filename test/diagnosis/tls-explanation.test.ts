import { describe, expect, it } from 'vitest';
import { explainTlsFailure } from '../../src/diagnosis/tls-explanation.ts';

const about = { service: 'monitor.example.com', session: undefined, hasClientCertificate: false };

describe('explainTlsFailure', () => {
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
  ])('explains %s as %s', (code, summary) => {
    const explanation = explainTlsFailure({ ...about, codes: ['OTHER', code] });
    expect(explanation).toMatchObject({ summary, layer: 'tls' });
    // Without a session no list of names follows.
    expect(explanation?.meaning).toMatch(/[a-zA-Z]\.$/);
  });

  it('is undefined for an unknown code', () => {
    expect(explainTlsFailure({ ...about, codes: [] })).toBeUndefined();
    expect(explainTlsFailure({ ...about, codes: ['ERR_SSL_SOMETHING_NEW'] })).toBeUndefined();
  });

  it('lists at most five host names of a certificate', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const session = { protocol: 'TLSv1.3', issuer: 'i', names, validToMs: 0 };
    const explanation = explainTlsFailure({ ...about, session, codes: ['HOSTNAME_MISMATCH'] });
    expect(explanation?.meaning).toMatch(/: a, b, c, d, e\.$/);
  });
});
