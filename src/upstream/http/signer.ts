import { createHmac } from 'node:crypto';
import type { SignedHeader } from '../../model/upstream-options.ts';
import { httpDateMs } from './reply-failure.ts';
import { RequestFailure } from './request-failure.ts';

/** The parts of a request that a signature can cover, exactly as they are sent. */
export interface SignableRequest {
  readonly method: 'GET';
  readonly host: string;
  readonly pathAndQuery: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export type Header = readonly [name: string, value: string];

/** Authentication headers, and the secrets in them, which no message may contain. */
export interface Signature {
  readonly headers: readonly Header[];
  readonly secrets: readonly string[];
}

export type Signer = (request: SignableRequest) => Promise<Signature>;

/** The header with its value as UTF-8 bytes; a value with control characters is an invalid credential. */
export function encodeHeader(name: string, value: string): Header {
  if (/(?!\t)\p{Cc}/u.test(value)) {
    throw new RequestFailure(
      'auth',
      `invalid value of header ${name}: expected no line breaks or other control characters`,
    );
  }
  return [name, Buffer.from(value).toString('latin1')];
}

/** Both lists, without the defaults whose name is overridden. */
export function mergeHeaders(defaults: readonly Header[], overrides: readonly Header[]): Header[] {
  const overridden = new Set(overrides.map(([name]) => name.toLowerCase()));
  return [...defaults.filter(([name]) => !overridden.has(name.toLowerCase())), ...overrides];
}

interface SecretReader {
  read(signal: AbortSignal): Promise<string>;
}

/** `Authorization: <type> <credentials>`, as for bearer tokens. */
export function authorizationSigner(
  type: string,
  credentials: SecretReader,
  furtherSecrets: () => readonly string[] = () => [],
): Signer {
  return async ({ signal }) => {
    const text = await credentials.read(signal);
    return { headers: [encodeHeader('Authorization', `${type} ${text}`)], secrets: [text, ...furtherSecrets()] };
  };
}

export function basicSigner(username: string, password: SecretReader): Signer {
  return async ({ signal }) => {
    const secret = await password.read(signal);
    const credentials = encodeBasicCredentials(username, secret);
    return { headers: [['Authorization', `Basic ${credentials}`]], secrets: [secret, credentials] };
  };
}

export function encodeBasicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** Headers and parameters that are configured as secrets may be none: shorter values would hide too many replies. */
export const MIN_SECRET_LENGTH = 4;

/** Gateways that verify signatures usually tolerate a few minutes; a larger difference than this is worth reporting. */
export const NOTABLE_CLOCK_DIFFERENCE_MS = 60_000;

/** Signs with an access key pair: the signing string has one line per signed header, in the configured order. */
export function hmacSigner(
  accessKeyId: string,
  secretAccessKey: SecretReader,
  signedHeaders: readonly SignedHeader[],
): Signer {
  return async (request) => {
    const secret = await secretAccessKey.read(request.signal);
    const lines = signedLines(request);
    const text = signedHeaders.map((entry) => lines[entry]).join('\n');
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    const authorization = `hmac accesskey="${accessKeyId}", algorithm="hmac-sha256", headers="${signedHeaders.join(' ')}", signature="${signature}"`;
    const date = new Date(request.nowMs).toUTCString();
    const dates = DATE_HEADERS.filter((name) => signedHeaders.some((entry) => entry === name.toLowerCase()));
    return {
      headers: [...dates.map((name) => [name, date] as const), encodeHeader('Authorization', authorization)],
      secrets: [secret, signature],
    };
  };
}

/** Describes the clock difference when the reply's `Date` is far from local time, a common cause of rejected signatures. */
export function clockHint(date: string | readonly string[] | undefined, nowMs: number): string | undefined {
  const remoteMs = httpDateMs(String(date));
  if (remoteMs === undefined || Math.abs(remoteMs - nowMs) <= NOTABLE_CLOCK_DIFFERENCE_MS) return undefined;
  const seconds = Math.round(Math.abs(remoteMs - nowMs) / 1000);
  return `the local clock is ${seconds} s ${remoteMs > nowMs ? 'behind' : 'ahead of'} the service's, which is enough to invalidate signatures`;
}

/** A signed date is also sent. */
const DATE_HEADERS = ['X-Date', 'Date'] as const;

/** The line of the signing string for each entry. */
function signedLines({ method, host, pathAndQuery, nowMs }: SignableRequest): Record<SignedHeader, string> {
  const date = new Date(nowMs).toUTCString();
  return {
    'x-date': `x-date: ${date}`,
    date: `date: ${date}`,
    host: `host: ${host}`,
    'request-line': `${method} ${pathAndQuery} HTTP/1.1`,
    '@request-target': `@request-target: ${method.toLowerCase()} ${pathAndQuery}`,
  };
}
