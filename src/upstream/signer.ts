import type { Credential } from './credential.ts';
import { RequestFailure } from './request-failure.ts';

/** What a signature may cover, exactly as it goes over the wire. */
export interface SignableRequest {
  readonly method: 'GET';
  readonly host: string;
  readonly pathAndQuery: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export type Header = readonly [name: string, value: string];

/** Headers that tell who we are, and the texts in them that no message may repeat. */
export interface Signature {
  readonly headers: readonly Header[];
  readonly secrets: readonly string[];
}

export type Signer = (request: SignableRequest) => Promise<Signature>;

/** The header as it can be sent, in UTF-8; what would break out of it or be refused on the way is the credential's fault. */
export function encodeHeader(name: string, value: string): Header {
  if (/(?!\t)\p{Cc}/u.test(value)) {
    throw new RequestFailure(
      'auth',
      `the value for the header ${name} has line breaks or other control characters, which no header can carry`,
    );
  }
  return [name, Buffer.from(value).toString('latin1')];
}

/** Both, where a name in the upper layer replaces all of that name below it. */
export function mergeHeaders(lower: readonly Header[], upper: readonly Header[]): Header[] {
  const replaced = new Set(upper.map(([name]) => name.toLowerCase()));
  return [...lower.filter(([name]) => !replaced.has(name.toLowerCase())), ...upper];
}

interface Secret {
  read(signal: AbortSignal): Promise<string>;
}

/** `Authorization: <type> <credentials>`, as bearer tokens go. */
export function authorizationSigner(type: string, credentials: Secret): Signer {
  return async ({ signal }) => {
    const text = await credentials.read(signal);
    return { headers: [encodeHeader('Authorization', `${type} ${text}`)], secrets: [text] };
  };
}

export function basicSigner(username: string, password: Pick<Credential, 'read'>): Signer {
  return async () => {
    const secret = await password.read();
    const pair = basicCredentials(username, secret);
    return { headers: [['Authorization', `Basic ${pair}`]], secrets: [secret, pair] };
  };
}

export function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
