import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** The credentials the service accepts, as the keys of an upstream in the exporter configuration. */
export type AuthCheck =
  | { readonly authorization: { readonly type?: string; readonly credentials: string } }
  | { readonly basic_auth: { readonly username: string; readonly password: string } }
  | { readonly hmac: HmacKeys };

interface HmacKeys {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  /** The client must sign at least these. */
  readonly signed_headers: readonly string[];
}

/** The gateway's message for a rejected request; undefined: accepted. */
export function authProblem(check: AuthCheck, head: RequestHead, atMs: number): string | undefined {
  const isAccepted =
    'hmac' in check ? isSigned(check.hmac, head, atMs) : head.headers.authorization === headerOf(check);
  return isAccepted ? undefined : 'Invalid authentication credentials';
}

function headerOf(check: Exclude<AuthCheck, { hmac: unknown }>): string {
  if ('authorization' in check) return `${check.authorization.type ?? 'Bearer'} ${check.authorization.credentials}`;
  const { username, password } = check.basic_auth;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Deliberately not shared with src/upstream: an independent implementation of the protocol checks the client. */
const HMAC_HEADER = /^hmac accesskey="([^"]*)", algorithm="hmac-sha256", headers="([^"]*)", signature="([^"]*)"$/;
const MAX_SKEW_MS = 300_000;

function isSigned(keys: HmacKeys, head: RequestHead, atMs: number): boolean {
  const [, accessKey, list = '', signature] = HMAC_HEADER.exec(`${head.headers.authorization}`) ?? [];
  const signed = list.split(' ');
  const date = Date.parse(`${head.headers['x-date'] ?? head.headers.date}`);
  const expected = createHmac('sha256', keys.secret_access_key)
    .update(signed.map((name) => signedLine(name, head)).join('\n'))
    .digest('base64');
  return (
    accessKey === keys.access_key_id &&
    keys.signed_headers.every((name) => signed.includes(name)) &&
    Math.abs(date - atMs) <= MAX_SKEW_MS &&
    signature === expected
  );
}

function signedLine(name: string, { method, url, headers }: RequestHead): string {
  if (name === 'request-line') return `${method} ${url} HTTP/1.1`;
  if (name === '@request-target') return `@request-target: ${method?.toLowerCase()} ${url}`;
  return `${name}: ${headers[name]}`;
}
