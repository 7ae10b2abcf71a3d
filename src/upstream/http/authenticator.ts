import { createHmac } from 'node:crypto';
import { readRegularFile } from '../../files/regular-file.ts';
import type { Clock } from '../../model/clock.ts';
import type { AuthOptions, SecretSource, SignedHeader, UpstreamOptions } from '../../model/upstream-options.ts';
import type { RemoteEndpoint } from './exchange.ts';
import { type AuthDependencies, encodeBasicCredentials, MIN_SECRET_LENGTH, TokenSource } from './oauth2.ts';
import { httpDateMs, RequestFailure } from './request-failure.ts';

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
  readonly headers: readonly Header[];
  readonly secrets: readonly string[];
}

type Signer = (request: SignableRequest) => Promise<Signature>;

/** Authenticates requests to one upstream with its authentication scheme and its configured headers. */
export class Authenticator {
  readonly #sign: Signer;
  readonly #headers: readonly { readonly name: string; readonly value: string | Credential }[];
  readonly #renewables: { invalidate(): void }[] = [];
  readonly #dependencies: AuthDependencies;
  #tokens: TokenSource | undefined;
  /** Incremented with each renewal. */
  credentialVersion = 0;

  constructor(
    { auth, headers }: Pick<UpstreamOptions, 'auth' | 'headers'>,
    openTokenEndpoint: (url: URL) => RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#dependencies = dependencies;
    this.#sign = auth ? this.#signer(auth, openTokenEndpoint) : async () => ({ headers: [], secrets: [] });
    this.#headers = headers.map(({ name, value }) => ({
      name,
      value: typeof value === 'string' ? value : this.#credential(value),
    }));
  }

  /** The headers for one request; those of the scheme override configured ones. */
  async authenticate(request: SignableRequest): Promise<Signature> {
    const { headers, secrets } = await this.#sign(request);
    const overridden = new Set(headers.map(([name]) => name.toLowerCase()));
    const configured: Header[] = [];
    const configuredSecrets: string[] = [];
    for (const { name, value } of this.#headers) {
      const text = typeof value === 'string' ? value : await value.read();
      if (!overridden.has(name.toLowerCase())) configured.push(encodeHeader(name, text));
      if (typeof value !== 'string' && text.length >= MIN_SECRET_LENGTH) configuredSecrets.push(text);
    }
    return { headers: [...configured, ...headers], secrets: [...secrets, ...configuredSecrets] };
  }

  /**
   * Makes the next request read the credentials again, unless another rejected request of the same version already did;
   * false when no credential can change.
   */
  renew(credentialVersion: number): boolean {
    if (this.#renewables.length === 0) return false;
    if (credentialVersion === this.credentialVersion) {
      this.credentialVersion += 1;
      for (const renewable of this.#renewables) renewable.invalidate();
    }
    return true;
  }

  /** Ends the pause after a failed token request. */
  forgetFailure(): void {
    this.#tokens?.forgetFailure();
  }

  #signer(auth: AuthOptions, openTokenEndpoint: (url: URL) => RemoteEndpoint): Signer {
    const secret = this.#credential(auth.secret);
    switch (auth.scheme) {
      case 'authorization':
        return authorizationSigner(auth.type, secret);
      case 'basic':
        return basicSigner(auth.username, secret);
      case 'hmac':
        return hmacSigner(auth.access_key_id, secret, auth.signed_headers);
      case 'oauth2': {
        const tokens = new TokenSource(
          auth,
          () => secret.read(),
          openTokenEndpoint(auth.token_url),
          this.#dependencies,
        );
        this.#tokens = tokens;
        this.#renewables.push(tokens);
        return authorizationSigner('Bearer', tokens, () => tokens.secrets());
      }
    }
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
  const content = await readRegularFile(file).catch((cause: Error) => {
    throw new RequestFailure('auth', `cannot read credential file ${file}: ${cause.message}`, { cause });
  });
  const text = content.toString().trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  return text;
}

/** The header with its value as UTF-8 bytes; a value with control characters is an invalid credential. */
function encodeHeader(name: string, value: string): Header {
  if (/(?!\t)\p{Cc}/u.test(value)) {
    throw new RequestFailure(
      'auth',
      `invalid value of header ${name}: expected no line breaks or other control characters`,
    );
  }
  return [name, Buffer.from(value).toString('latin1')];
}

interface SecretReader {
  read(signal: AbortSignal): Promise<string>;
}

/** `Authorization: <type> <credentials>`, as for bearer tokens. */
function authorizationSigner(
  type: string,
  credentials: SecretReader,
  furtherSecrets: () => readonly string[] = () => [],
): Signer {
  return async ({ signal }) => {
    const text = await credentials.read(signal);
    return { headers: [encodeHeader('Authorization', `${type} ${text}`)], secrets: [text, ...furtherSecrets()] };
  };
}

function basicSigner(username: string, password: SecretReader): Signer {
  return async ({ signal }) => {
    const secret = await password.read(signal);
    const credentials = encodeBasicCredentials(username, secret);
    return { headers: [['Authorization', `Basic ${credentials}`]], secrets: [secret, credentials] };
  };
}

/** Signs with an access key pair: the signing string has one line per signed header, in the configured order. */
function hmacSigner(
  accessKeyId: string,
  secretAccessKey: SecretReader,
  signedHeaders: readonly SignedHeader[],
): Signer {
  return async ({ host, pathAndQuery, nowMs, signal }) => {
    const secret = await secretAccessKey.read(signal);
    const date = new Date(nowMs).toUTCString();
    const lines: Record<SignedHeader, string> = {
      'x-date': `x-date: ${date}`,
      date: `date: ${date}`,
      host: `host: ${host}`,
      'request-line': `GET ${pathAndQuery} HTTP/1.1`,
      '@request-target': `@request-target: get ${pathAndQuery}`,
    };
    const text = signedHeaders.map((entry) => lines[entry]).join('\n');
    const signature = createHmac('sha256', secret).update(text).digest('base64');
    const authorization = `hmac accesskey="${accessKeyId}", algorithm="hmac-sha256", headers="${signedHeaders.join(' ')}", signature="${signature}"`;
    const dates = DATE_HEADERS.filter((name) => signedHeaders.some((entry) => entry === name.toLowerCase()));
    return {
      headers: [...dates.map((name) => [name, date] as const), encodeHeader('Authorization', authorization)],
      secrets: [secret, signature],
    };
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
