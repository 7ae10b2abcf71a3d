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
  const authorization = head.headers.authorization;
  if (authorization === undefined) return 'Unauthorized';
  if ('hmac' in check) return hmacProblem(check.hmac, authorization, head, atMs);
  const expected =
    'authorization' in check
      ? `${check.authorization.type ?? 'Bearer'} ${check.authorization.credentials}`
      : basicHeader(check.basic_auth.username, check.basic_auth.password);
  return authorization === expected ? undefined : 'Invalid authentication credentials';
}

/** Deliberately not shared with src/upstream: an independent implementation of the protocol checks the client. */
const HMAC_HEADER = /^hmac accesskey="([^"]*)", algorithm="hmac-sha256", headers="([^"]*)", signature="([^"]*)"$/;
const MAX_SKEW_MS = 300_000;

function hmacProblem(keys: HmacKeys, authorization: string, head: RequestHead, atMs: number): string | undefined {
  const [matched, accessKey, list = '', signature] = HMAC_HEADER.exec(authorization) ?? [];
  if (matched === undefined) return 'HMAC signature cannot be verified';
  if (accessKey !== keys.access_key_id) return 'Invalid authentication credentials';
  const signed = list.split(' ');
  if (!keys.signed_headers.every((name) => signed.includes(name)))
    return 'enforced header not used for HMAC Authentication';
  const date = Date.parse(`${head.headers['x-date'] ?? head.headers.date}`);
  if (!(Math.abs(date - atMs) <= MAX_SKEW_MS)) {
    return 'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication';
  }
  const expected = createHmac('sha256', keys.secret_access_key)
    .update(signed.map((name) => signedLine(name, head)).join('\n'))
    .digest('base64');
  return signature === expected ? undefined : 'HMAC signature does not match';
}

function signedLine(name: string, { method, url, headers }: RequestHead): string {
  if (name === 'request-line') return `${method} ${url} HTTP/1.1`;
  if (name === '@request-target') return `@request-target: ${method?.toLowerCase()} ${url}`;
  return `${name}: ${headers[name]}`;
}

function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
