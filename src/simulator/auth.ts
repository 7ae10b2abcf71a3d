import { createHmac } from 'node:crypto';
import type { RequestHead } from './listing.ts';
import { jsonReply, type SimulatedReply } from './reply.ts';

/** The credentials the service accepts, as the keys of an upstream in the exporter configuration. */
export type AuthCheck =
  | { readonly authorization: { readonly type?: string; readonly credentials: string } }
  | { readonly basic_auth: { readonly username: string; readonly password: string } }
  | { readonly hmac: HmacKeys }
  | { readonly oauth2: OAuth2Keys };

interface HmacKeys {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  /** The client must sign at least these. */
  readonly signed_headers: readonly string[];
}

interface OAuth2Keys {
  readonly client_id: string;
  readonly client_secret: string;
}

/** The gateway's message for a rejected request; undefined: accepted. */
export function authProblem(check: AuthCheck, head: RequestHead, atMs: number): string | undefined {
  const authorization = head.headers.authorization;
  if (authorization === undefined) return 'Unauthorized';
  if ('hmac' in check) return hmacProblem(check.hmac, authorization, head, atMs);
  if ('oauth2' in check)
    return isValidToken(authorization, atMs) ? undefined : 'The access token is invalid or expired';
  const expected =
    'authorization' in check
      ? `${check.authorization.type ?? 'Bearer'} ${check.authorization.credentials}`
      : basicHeader(check.basic_auth.username, check.basic_auth.password);
  return authorization === expected ? undefined : 'Invalid authentication credentials';
}

/** Deliberately not shared with src/upstream: the simulator is an independent implementation of the protocol that checks the client. */
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

export const TOKEN_PATH = '/oauth2/token';

/** Short, so that a rehearsal includes renewals. */
const TOKEN_LIFETIME_MS = 300_000;

/** The reply of the token endpoint to a client credentials grant; id and secret may be in the header or in the form. */
export function tokenReply(
  keys: OAuth2Keys,
  { method, headers }: RequestHead,
  form: URLSearchParams,
  atMs: number,
): SimulatedReply {
  if (method !== 'POST') return jsonReply(405, { error: 'invalid_request' }, { allow: 'POST' });
  const { client_id, client_secret } = keys;
  const isClient =
    headers.authorization === basicHeader(simulatedFormEncoded(client_id), simulatedFormEncoded(client_secret)) ||
    (form.get('client_id') === client_id && form.get('client_secret') === client_secret);
  if (!isClient) return jsonReply(401, { error: 'invalid_client' });
  if (form.get('grant_type') !== 'client_credentials') return jsonReply(400, { error: 'unsupported_grant_type' });
  const access_token = `until-${atMs + TOKEN_LIFETIME_MS}`;
  return jsonReply(200, { access_token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_MS / 1000 });
}

function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function simulatedFormEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** A token is not signed, because the service checks clients, not attackers. */
function isValidToken(authorization: string, atMs: number): boolean {
  const [, expiresMs] = /^Bearer until-(\d+)$/.exec(authorization) ?? [];
  return atMs < Number(expiresMs);
}

/** The credentials of a simulation, by the name of the scheme. */
export const SIMULATED_CREDENTIALS = {
  bearer: { authorization: { type: 'Bearer', credentials: 'simulated-token' } },
  basic: { basic_auth: { username: 'simulated-user', password: 'simulated-password' } },
  hmac: {
    hmac: {
      access_key_id: 'simulated-access-key',
      secret_access_key: 'simulated-secret-key',
      signed_headers: ['x-date'],
    },
  },
  oauth2: { oauth2: { client_id: 'simulated-client', client_secret: 'simulated-client-secret' } },
} as const satisfies Readonly<Record<string, AuthCheck>>;

export type SimulatedScheme = keyof typeof SIMULATED_CREDENTIALS;
