import type { Credential } from './credential.ts';
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
    throw new RequestFailure('auth', `invalid value of header ${name}: expected no line breaks or other control characters`);
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
export function authorizationSigner(type: string, credentials: SecretReader): Signer {
  return async ({ signal }) => {
    const text = await credentials.read(signal);
    return { headers: [encodeHeader('Authorization', `${type} ${text}`)], secrets: [text] };
  };
}

export function basicSigner(username: string, password: Pick<Credential, 'read'>): Signer {
  return async () => {
    const secret = await password.read();
    const credentials = encodeBasicCredentials(username, secret);
    return { headers: [['Authorization', `Basic ${credentials}`]], secrets: [secret, credentials] };
  };
}

export function encodeBasicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
