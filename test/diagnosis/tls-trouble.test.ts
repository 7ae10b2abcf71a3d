import { describe, expect, it } from 'vitest';
import { explainTlsFailure } from '../../src/diagnosis/tls-explanation.ts';

const about = { service: 'monitor.example.com', session: undefined, hasClientCertificate: false };

describe('tlsTrouble', () => {
  it.each([
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unknown authority'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unknown authority'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unknown authority'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'not valid yet'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'wrong host name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'no TLS spoken'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'no common version'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate demanded'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'client certificate demanded'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'client certificate demanded'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'client certificate refused'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'client certificate refused'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client certificate refused'],
    ['ENOENT', 'unusable file'],
    ['ERR_OSSL_PEM_NO_START_LINE', 'unusable file'],
  ])('knows %s as %s', (code, short) => {
    const trouble = explainTlsFailure({ ...about, codes: ['OTHER', code] });
    expect(trouble).toMatchObject({ short, place: 'tls' });
    // A sentence that goes on with nothing would end so.
    expect(trouble?.what).toMatch(/[a-z)]\.$/);
  });

  it('says no more than it knows', () => {
    expect(explainTlsFailure({ ...about, codes: [] })).toBeUndefined();
    expect(explainTlsFailure({ ...about, codes: ['ERR_SSL_SOMETHING_NEW'] })).toBeUndefined();
  });

  it('names a few of many names', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const session = { protocol: 'TLSv1.3', issuer: 'i', names, validToMs: 0 };
    const trouble = explainTlsFailure({ ...about, session, codes: ['HOSTNAME_MISMATCH'] });
    expect(trouble?.what).toMatch(/: a, b, c, d, e\.$/);
  });
});
