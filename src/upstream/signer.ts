import { readFile } from 'node:fs/promises';
import type { Clock } from '../station/clock.ts';
import type { SecretSource } from './options.ts';
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

/** Configured headers and parameters may be no secrets at all: redacting shorter values would only garble messages. */
export const MIN_SECRET_LENGTH = 4;

const RECHECK_MS = 1000;

/** A secret from the configuration or from a file; the file is read at most once a second. */
export class Credential {
  readonly #source: SecretSource;
  readonly #elapsedMs: () => number;
  #latest: { readonly atMs: number; readonly text: Promise<string> } | undefined;

  constructor(source: SecretSource, { elapsedMs }: Pick<Clock, 'elapsedMs'>) {
    this.#source = source;
    this.#elapsedMs = elapsedMs;
  }

  /** Whether reading again may return another value. */
  get renewable(): boolean {
    return 'file' in this.#source;
  }

  /** Makes the next `read` read the file again. */
  invalidate(): void {
    this.#latest = undefined;
  }

  async read(): Promise<string> {
    if ('text' in this.#source) return this.#source.text;
    const nowMs = this.#elapsedMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= RECHECK_MS) {
      this.#latest = { atMs: nowMs, text: readSecret(this.#source.file) };
    }
    return this.#latest.text;
  }
}

async function readSecret(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: Error) => {
    throw new RequestFailure('auth', `cannot read credential file ${file}: ${error.message}`, {}, { cause: error });
  });
  const text = content.trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  return text;
}
