import { createHmac } from 'node:crypto';
import type { Message } from './call.ts';

/** Who may ask. */
export type AuthCheck =
  | { readonly scheme: 'token'; readonly type?: string; readonly token: string }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly scheme: 'hmac';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** Must be among what the client signs. */
      readonly signedHeaders: readonly string[];
      readonly skewMs?: number;
    };

/** Why the request is turned away, in the words of the gateway; undefined: it may pass. */
export function authProblem(check: AuthCheck, message: Message, atMs: number): string | undefined {
  const authorization = message.headers.authorization;
  if (authorization === undefined) return 'Unauthorized';
  if (check.scheme === 'hmac') return hmacProblem(check, authorization, message, atMs);
  const expected =
    check.scheme === 'token'
      ? `${check.type ?? 'Bearer'} ${check.token}`
      : `Basic ${Buffer.from(`${check.username}:${check.password}`).toString('base64')}`;
  return authorization === expected ? undefined : 'Invalid authentication credentials';
}

const HMAC_HEADER = /^hmac accesskey="([^"]*)", algorithm="hmac-sha256", headers="([^"]*)", signature="([^"]*)"$/;
const DEFAULT_SKEW_MS = 300_000;

function hmacProblem(
  check: Extract<AuthCheck, { scheme: 'hmac' }>,
  authorization: string,
  message: Message,
  atMs: number,
): string | undefined {
  const [matched, accessKey, list = '', signature] = HMAC_HEADER.exec(authorization) ?? [];
  if (matched === undefined) return 'HMAC signature cannot be verified';
  if (accessKey !== check.accessKeyId) return 'Invalid authentication credentials';
  const signed = list.split(' ');
  if (!check.signedHeaders.every((name) => signed.includes(name))) return 'enforced header not used for HMAC Authentication';
  const date = Date.parse(`${message.headers['x-date'] ?? message.headers.date}`);
  if (!(Math.abs(date - atMs) <= (check.skewMs ?? DEFAULT_SKEW_MS))) {
    return 'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication';
  }
  const expected = createHmac('sha256', check.secretAccessKey)
    .update(signed.map((name) => signedLine(name, message)).join('\n'))
    .digest('base64');
  return signature === expected ? undefined : 'HMAC signature does not match';
}

function signedLine(name: string, { method, target, headers }: Message): string {
  if (name === 'request-line') return `${method} ${target} HTTP/1.1`;
  if (name === '@request-target') return `@request-target: ${method.toLowerCase()} ${target}`;
  return `${name}: ${headers[name]}`;
}
