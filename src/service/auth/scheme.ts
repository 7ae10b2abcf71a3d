import type * as z from 'zod';
import type { Clock } from '../../model/clock.ts';
import type { CredentialWords } from '../../model/failure.ts';
import { crossChecked, type Mapping } from '../../schema/cross-check.ts';
import { isHeaderText } from '../../schema/scalar-schemas.ts';
import type { Secret } from '../../schema/secret.ts';
import type { RemoteEndpoint } from '../http/exchange.ts';
import { RequestFailure } from '../request-failure.ts';

/** A way to authenticate requests, under its key in the configuration of an upstream. */
export interface AuthScheme<Schema extends z.ZodType> {
  readonly schema: Schema;
  /** What the documentation says of its key. */
  readonly description: string;
  /** The names of the headers that it sets, in lower case. */
  readonly setsHeaders: readonly string[];
  /** A wrong local clock makes the service reject requests. */
  readonly dependsOnClock: boolean;
  readonly words: (settings: z.output<Schema>) => CredentialWords;
  readonly signer: (settings: z.output<Schema>, tools: SignerTools) => Signer;
}

/** Checks that the parts of a scheme belong together. */
export function authScheme<Schema extends z.ZodType>(scheme: AuthScheme<Schema>): AuthScheme<Schema> {
  return scheme;
}

/** Authenticates requests with the settings of one upstream. */
export interface Signer {
  sign(request: SignableRequest): Promise<Signature>;
  /** Ends the delay after credentials could not be obtained. */
  forgetFailure?(): void;
}

/** The parts of a GET request that a signature can cover, exactly as they are sent. */
export interface SignableRequest {
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
  /** The service rejected them: the next request obtains others. */
  readonly invalidate?: (() => void) | undefined;
}

export interface AuthDependencies {
  readonly clock: Clock;
  readonly random: () => number;
}

/** What the client of an upstream provides to its signer. */
export interface SignerTools extends AuthDependencies {
  /** Reads the secret from the configuration or its file, for each request. */
  secretReader(text: Secret | undefined, file: string | undefined): () => Promise<string>;
  /** `name`: in messages. */
  openEndpoint(name: string, url: URL): RemoteEndpoint;
}

/** Requires either the secret or the file that contains it. */
export function withSecret<Schema extends z.ZodType>(key: string, schema: Schema): Schema {
  const fileKey = `${key}_file`;
  return crossChecked(schema, function* (value: Mapping) {
    const set = [key, fileKey].filter((name) => value[name] !== undefined);
    if (set.length === 0) yield { path: [], message: `expected ${key} or ${fileKey}, got neither` };
    if (set.length === 2)
      yield { path: [fileKey], message: `given together with ${key}, expected only one of the two`, atKey: true };
  });
}

/** The header with its value as UTF-8 bytes; a value with control characters is an invalid credential. */
export function encodeHeader(name: string, value: string): Header {
  if (!isHeaderText(value)) {
    throw new RequestFailure(
      'auth',
      `invalid value of header ${name}: expected no line breaks or other control characters`,
    );
  }
  return [name, Buffer.from(value).toString('latin1')];
}

export function encodeBasicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
