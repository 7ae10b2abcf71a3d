import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientRules } from './rules.ts';

/** Whether a connection may stay, its handshake done. */
export function isAcceptable(rules: ClientRules, socket: Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !rules.required;
  if (rules.verified && !socket.authorized) return false;
  return rules.allowedSans === undefined || rules.allowedSans.some((san) => isNamed(certificate, san));
}

/** Exactly so, wildcards are not resolved; an IP address may be written in any of its ways. */
function isNamed(certificate: X509Certificate, san: string): boolean {
  return subjectNames(certificate).includes(san) || (isIP(san) !== 0 && certificate.checkIP(san) !== undefined);
}

/** The host names, e-mail addresses and URIs of the certificate. In a name that holds a comma, Node quotes it and escapes the comma. */
function subjectNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, value] = /^(?:DNS|email|URI):(.*)$/.exec(entry) ?? [];
    if (value === undefined) return [];
    return [value.startsWith('"') ? String(JSON.parse(value)) : value];
  });
}
