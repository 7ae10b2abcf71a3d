import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isAcceptable } from '../../../src/web/access/secure-server.ts';
import { issue } from '../../upstream/support/certificates.ts';

const NOTHING = { requested: true, required: false, verified: false };
const ANY = { ...NOTHING, required: true };
const VERIFIED_IF_GIVEN = { ...NOTHING, verified: true };
const VERIFIED = { ...ANY, verified: true };

function connection(pem: string | undefined, authorized = false) {
  return { authorized, getPeerX509Certificate: () => (pem === undefined ? undefined : new X509Certificate(pem)) };
}

/**
 * The names a.example.com, *.b.example.com, 192.0.2.7, 2001:db8::1, ops@example.com, spiffe://example.com/plain and the one URI
 * `spiffe://example.com/a,b, DNS:forged.example.com`.
 */
const NAMED = `-----BEGIN CERTIFICATE-----
MIIB6jCCAZCgAwIBAgIUWPqTlpZa0gF71WywqYc84wOsdSAwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFbmFtZXMwHhcNMjYxMTE1MDM0NjI0WhcNMjYxMTE2MDM0NjI0
WjAQMQ4wDAYDVQQDDAVuYW1lczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMBS
E5wqfjK45Vb599WlTAcoC9FwazCbjX/h8KLxEpkkqdJbkkYtswxyylkZUo3XIIh2
Ir4d88Bp6oePu0zB3TijgccwgcQwgaIGA1UdEQSBmjCBl4INYS5leGFtcGxlLmNv
bYIPKi5iLmV4YW1wbGUuY29thwTAAAIHhxAgAQ24AAAAAAAAAAAAAAABgQ9vcHNA
ZXhhbXBsZS5jb22GMHNwaWZmZTovL2V4YW1wbGUuY29tL2EsYiwgRE5TOmZvcmdl
ZC5leGFtcGxlLmNvbYYac3BpZmZlOi8vZXhhbXBsZS5jb20vcGxhaW4wHQYDVR0O
BBYEFHSr9OP0EMJ15Bqi65E75IV9N5sUMAoGCCqGSM49BAMCA0gAMEUCIHtbanqA
biRkxbqzUgKZNLyfe70rg59Xg+vUjPL7eNbeAiEA6Fux8allDTD6qVlnhsbFw+pT
DAx+RyAYufNJKetoPt4=
-----END CERTIFICATE-----
`;

describe('isAcceptable', () => {
  const own = issue({ name: 'self-signed' }).cert;

  it.each([
    ['nothing is expected', NOTHING, [true, true, true]],
    ['any certificate is required', ANY, [false, true, true]],
    ['one that is given is verified', VERIFIED_IF_GIVEN, [true, false, true]],
    ['a verified one is required', VERIFIED, [false, false, true]],
  ])('where %s, judges no certificate, a foreign one and a trusted one', (_rules, rules, verdicts) => {
    const connections = [connection(undefined), connection(own, false), connection(own, true)];
    expect(connections.map((socket) => isAcceptable(rules, socket))).toEqual(verdicts);
  });

  it.each([
    'a.example.com',
    '*.b.example.com',
    '192.0.2.7',
    '2001:db8::1',
    '2001:0DB8:0:0::1',
    'ops@example.com',
    'spiffe://example.com/plain',
    'spiffe://example.com/a,b, DNS:forged.example.com',
  ])('accepts a certificate for its name %s', (san) => {
    expect(isAcceptable({ ...VERIFIED, allowedSans: ['other', san] }, connection(NAMED, true))).toBe(true);
    expect(isAcceptable({ ...VERIFIED, allowedSans: [san] }, connection(NAMED, false))).toBe(false);
  });

  it.each([
    'forged.example.com',
    'A.example.com',
    'x.b.example.com',
    'example.com',
    'names',
    '192.0.2.8',
    '2001:db8::2',
    'DNS:a.example.com',
    '"spiffe://example.com/plain"',
    '',
  ])('refuses a certificate that lacks the name %s', (san) => {
    expect(isAcceptable({ ...VERIFIED, allowedSans: [san] }, connection(NAMED, true))).toBe(false);
  });

  it('refuses a certificate without names, and every one when no name is allowed', () => {
    expect(isAcceptable({ ...VERIFIED, allowedSans: ['self-signed'] }, connection(own, true))).toBe(false);
    expect(isAcceptable({ ...VERIFIED, allowedSans: [] }, connection(NAMED, true))).toBe(false);
  });
});
