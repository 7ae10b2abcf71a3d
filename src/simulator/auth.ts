import { createHmac } from 'node:crypto';
import type { RequestHead } from './listing-request.ts';
import { jsonReply, type SimulatedReply, withHeaders } from './reply.ts';

/** The credentials the service accepts. */
export type AuthCheck =
  | { readonly scheme: 'token'; readonly type?: string; readonly token: string }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly scheme: 'hmac';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** The client must sign at least these. */
      readonly signedHeaders: readonly string[];
      readonly skewMs?: number;
    }
  | { readonly scheme: 'oauth2'; readonly clientId: string; readonly clientSecret: string };

type OAuth2Check = Extract<AuthCheck, { scheme: 'oauth2' }>;

/** The gateway's message for a rejected request; undefined: accepted. */
export function authProblem(check: AuthCheck, head: RequestHead, atMs: number): string | undefined {
  const authorization = head.headers.authorization;
  if (authorization === undefined) return 'Unauthorized';
  if (check.scheme === 'hmac') return hmacProblem(check, authorization, head, atMs);
  if (check.scheme === 'oauth2')
    return isIssuedToken(check, authorization, atMs) ? undefined : 'The access token is invalid or expired';
  const expected =
    check.scheme === 'token'
      ? `${check.type ?? 'Bearer'} ${check.token}`
      : `Basic ${Buffer.from(`${check.username}:${check.password}`).toString('base64')}`;
  return authorization === expected ? undefined : 'Invalid authentication credentials';
}

/** Deliberately not shared with src/upstream: the simulator is an independent implementation of the protocol that checks the client. */
const HMAC_HEADER = /^hmac accesskey="([^"]*)", algorithm="hmac-sha256", headers="([^"]*)", signature="([^"]*)"$/;
const DEFAULT_SKEW_MS = 300_000;

function hmacProblem(
  check: Extract<AuthCheck, { scheme: 'hmac' }>,
  authorization: string,
  head: RequestHead,
  atMs: number,
): string | undefined {
  const [matched, accessKey, list = '', signature] = HMAC_HEADER.exec(authorization) ?? [];
  if (matched === undefined) return 'HMAC signature cannot be verified';
  if (accessKey !== check.accessKeyId) return 'Invalid authentication credentials';
  const signed = list.split(' ');
  if (!check.signedHeaders.every((name) => signed.includes(name)))
    return 'enforced header not used for HMAC Authentication';
  const date = Date.parse(`${head.headers['x-date'] ?? head.headers.date}`);
  if (!(Math.abs(date - atMs) <= (check.skewMs ?? DEFAULT_SKEW_MS))) {
    return 'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication';
  }
  const expected = createHmac('sha256', check.secretAccessKey)
    .update(signed.map((name) => signedLine(name, head)).join('\n'))
    .digest('base64');
  return signature === expected ? undefined : 'HMAC signature does not match';
}

function signedLine(name: string, { method, target, headers }: RequestHead): string {
  if (name === 'request-line') return `${method} ${target} HTTP/1.1`;
  if (name === '@request-target') return `@request-target: ${method.toLowerCase()} ${target}`;
  return `${name}: ${headers[name]}`;
}

export const TOKEN_PATH = '/oauth2/token';

/** Short, so that a rehearsal includes renewals. */
const TOKEN_LIFETIME_MS = 300_000;

/** The reply of the token endpoint to a client credentials grant; id and secret may be in the header or in the form. */
export function tokenReply(
  check: OAuth2Check,
  { method, headers }: RequestHead,
  form: URLSearchParams,
  atMs: number,
): SimulatedReply {
  if (method !== 'POST') return withHeaders(jsonReply(405, { error: 'invalid_request' }), { allow: 'POST' });
  const { clientId, clientSecret } = check;
  const basic = `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`;
  const isClient =
    headers.authorization === basic ||
    (form.get('client_id') === clientId && form.get('client_secret') === clientSecret);
  if (!isClient) return jsonReply(401, { error: 'invalid_client' });
  if (form.get('grant_type') !== 'client_credentials') return jsonReply(400, { error: 'unsupported_grant_type' });
  const token = issuedToken(check, atMs + TOKEN_LIFETIME_MS);
  return jsonReply(200, { access_token: token, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_MS / 1000 });
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Contains when it expires, and a signature. */
function issuedToken({ clientSecret }: OAuth2Check, expiresMs: number): string {
  return `${expiresMs}.${createHmac('sha256', clientSecret).update(`${expiresMs}`).digest('hex')}`;
}

function isIssuedToken(check: OAuth2Check, authorization: string, atMs: number): boolean {
  const [, expiresMs] = /^Bearer (\d+)\./.exec(authorization) ?? [];
  return authorization === `Bearer ${issuedToken(check, Number(expiresMs))}` && atMs < Number(expiresMs);
}

/** The credentials of a simulation, by the name of the scheme. */
export const SIMULATED_CREDENTIALS = {
  bearer: { scheme: 'token', token: 'simulated-token' },
  basic: { scheme: 'basic', username: 'simulated-user', password: 'simulated-password' },
  hmac: {
    scheme: 'hmac',
    accessKeyId: 'simulated-access-key',
    secretAccessKey: 'simulated-secret-key',
    signedHeaders: ['x-date'],
  },
  oauth2: { scheme: 'oauth2', clientId: 'simulated-client', clientSecret: 'simulated-client-secret' },
} as const satisfies Readonly<Record<string, AuthCheck>>;

export type SimulatedScheme = keyof typeof SIMULATED_CREDENTIALS;
