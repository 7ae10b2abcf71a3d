import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../model/clock.ts';
import {
  type AuthOptions,
  isHeaderText,
  type SecretSource,
  type SignedHeader,
  type UpstreamOptions,
} from '../../model/upstream-options.ts';
import { proxySecrets } from '../redaction.ts';
import { httpDateMs, RequestFailure } from '../request-failure.ts';
import type { RemoteEndpoint } from './exchange.ts';
import { type AuthDependencies, encodeBasicCredentials, MIN_SECRET_LENGTH, TokenSource } from './oauth2.ts';

/** The parts of a GET request that a signature can cover, exactly as they are sent. */
interface SignableRequest {
  readonly host: string;
  readonly pathAndQuery: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

type Header = readonly [name: string, value: string];

/** Authentication headers, and the secrets in them, which no message may contain. */
interface Signature {
  readonly headers: Header[];
  readonly secrets: string[];
}

/** Authenticates requests to one upstream with its authentication scheme and its configured headers. */
export class Authenticator {
  readonly #scheme:
    | { readonly auth: AuthOptions; readonly credentials: { read(signal: AbortSignal): Promise<string> } }
    | undefined;
  readonly #headers: readonly { readonly name: string; readonly value: string | Credential }[];
  readonly #renewables: { invalidate(): void }[] = [];
  readonly #dependencies: AuthDependencies;
  readonly #tokens: TokenSource | undefined;
  readonly #proxySecrets: readonly string[];
  #credentialVersion = 0;

  constructor(
    { auth, headers, proxyUrl }: Pick<UpstreamOptions, 'auth' | 'headers' | 'proxyUrl'>,
    openTokenEndpoint: (url: URL) => RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#dependencies = dependencies;
    this.#proxySecrets = proxySecrets(proxyUrl);
    if (auth) {
      const secret = this.#credential(auth.secret);
      if (auth.scheme === 'oauth2') {
        this.#tokens = new TokenSource(auth, () => secret.read(), openTokenEndpoint(auth.token_url), dependencies);
        this.#renewables.push(this.#tokens);
      }
      this.#scheme = { auth, credentials: this.#tokens ?? secret };
    }
    this.#headers = headers.map(({ name, value }) => ({
      name,
      value: typeof value === 'string' ? value : this.#credential(value),
    }));
  }

  /** Incremented with each renewal. */
  get credentialVersion(): number {
    return this.#credentialVersion;
  }

  /** The headers for one request; those of the scheme override configured ones. */
  async authenticate(request: SignableRequest): Promise<Signature> {
    const { headers, secrets } = await this.#sign(request);
    const overridden = new Set(headers.map(([name]) => name.toLowerCase()));
    for (const { name, value } of this.#headers) {
      const text = typeof value === 'string' ? value : await value.read();
      if (!overridden.has(name.toLowerCase())) headers.push(encodeHeader(name, text));
      if (typeof value !== 'string' && text.length >= MIN_SECRET_LENGTH) secrets.push(text);
    }
    return { headers, secrets: [...secrets, ...this.#proxySecrets] };
  }

  /**
   * Makes the next request read the credentials again, unless another rejected request of the same version already did;
   * false when no credential can change.
   */
  renew(credentialVersion: number): boolean {
    if (this.#renewables.length === 0) return false;
    if (credentialVersion === this.#credentialVersion) {
      this.#credentialVersion += 1;
      for (const renewable of this.#renewables) renewable.invalidate();
    }
    return true;
  }

  /** Ends the pause after a failed token request. */
  forgetFailure(): void {
    this.#tokens?.forgetFailure();
  }

  async #sign(request: SignableRequest): Promise<Signature> {
    if (!this.#scheme) return { headers: [], secrets: [] };
    const { auth, credentials } = this.#scheme;
    const text = await credentials.read(request.signal);
    const signed = signature(auth, text, request);
    signed.secrets.push(text, ...(this.#tokens?.secrets() ?? []));
    return signed;
  }

  #credential(source: SecretSource): Credential {
    const credential = new Credential(source, this.#dependencies.clock);
    // Only a file may have another value when it is read again.
    if ('file' in source) this.#renewables.push(credential);
    return credential;
  }
}

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
  const content = await readFile(file).catch((cause: Error) => {
    throw new RequestFailure('auth', `cannot read credential file ${file}: ${cause.message}`, { cause });
  });
  const text = content.toString().trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  return text;
}

/** The header with its value as UTF-8 bytes; a value with control characters is an invalid credential. */
function encodeHeader(name: string, value: string): Header {
  if (!isHeaderText(value)) {
    throw new RequestFailure(
      'auth',
      `invalid value of header ${name}: expected no line breaks or other control characters`,
    );
  }
  return [name, Buffer.from(value).toString('latin1')];
}

/** The headers of the request, and the secrets that are derived from the credentials. */
function signature(auth: AuthOptions, credentials: string, request: SignableRequest): Signature {
  switch (auth.scheme) {
    case 'authorization':
      return { headers: [encodeHeader('Authorization', `${auth.type} ${credentials}`)], secrets: [] };
    case 'oauth2':
      return { headers: [encodeHeader('Authorization', `Bearer ${credentials}`)], secrets: [] };
    case 'basic': {
      const encoded = encodeBasicCredentials(auth.username, credentials);
      return { headers: [['Authorization', `Basic ${encoded}`]], secrets: [encoded] };
    }
    case 'hmac':
      return hmacSignature(auth, credentials, request);
  }
}

/** Signs with an access key pair: the signing string has one line per signed header, in the configured order. */
function hmacSignature(
  { access_key_id, signed_headers }: Extract<AuthOptions, { scheme: 'hmac' }>,
  secret: string,
  { host, pathAndQuery, nowMs }: SignableRequest,
): Signature {
  const date = new Date(nowMs).toUTCString();
  const lines: Record<SignedHeader, string> = {
    'x-date': `x-date: ${date}`,
    date: `date: ${date}`,
    host: `host: ${host}`,
    'request-line': `GET ${pathAndQuery} HTTP/1.1`,
    '@request-target': `@request-target: get ${pathAndQuery}`,
  };
  const text = signed_headers.map((entry) => lines[entry]).join('\n');
  const signed = createHmac('sha256', secret).update(text).digest('base64');
  const authorization = `hmac accesskey="${access_key_id}", algorithm="hmac-sha256", headers="${signed_headers.join(' ')}", signature="${signed}"`;
  const dates = DATE_HEADERS.filter((name) => signed_headers.some((entry) => entry === name.toLowerCase()));
  return {
    headers: [...dates.map((name) => [name, date] as const), encodeHeader('Authorization', authorization)],
    secrets: [signed],
  };
}

/** A signed date is also sent. */
const DATE_HEADERS = ['X-Date', 'Date'] as const;

/** Gateways that verify signatures usually tolerate a few minutes; a larger difference than this is worth reporting. */
export const NOTABLE_CLOCK_DIFFERENCE_MS = 60_000;

/** Describes the clock difference when the reply's `Date` is far from local time, a common cause of rejected signatures. */
export function clockHint(date: string | readonly string[] | undefined, nowMs: number): string | undefined {
  const remoteMs = httpDateMs(String(date));
  if (remoteMs === undefined || Math.abs(remoteMs - nowMs) <= NOTABLE_CLOCK_DIFFERENCE_MS) return undefined;
  const seconds = Math.round(Math.abs(remoteMs - nowMs) / 1000);
  return `the local clock is ${seconds} s ${remoteMs > nowMs ? 'behind' : 'ahead of'} the service's, which is enough to invalidate signatures`;
}
