import { readRegularFile } from '../../files/regular-file.ts';
import type { Clock } from '../../model/clock.ts';
import type { AuthOptions, SecretSource, UpstreamOptions } from '../../model/upstream-options.ts';
import type { RemoteEndpoint } from './exchange.ts';
import { type AuthDependencies, TokenSource } from './oauth2.ts';
import { RequestFailure } from './request-failure.ts';
import {
  authorizationSigner,
  basicSigner,
  encodeHeader,
  type Header,
  hmacSigner,
  MIN_SECRET_LENGTH,
  mergeHeaders,
  type SignableRequest,
  type Signature,
  type Signer,
} from './signer.ts';

/** Authenticates requests to one upstream with its authentication scheme and its configured headers. */
export class Authenticator {
  readonly #sign: Signer | undefined;
  readonly #headers: readonly { readonly name: string; readonly value: string | Credential }[];
  readonly #renewables: { invalidate(): void }[] = [];
  readonly #dependencies: AuthDependencies;
  #tokens: TokenSource | undefined;
  #credentialVersion = 0;

  constructor(
    options: Pick<UpstreamOptions, 'auth' | 'headers'>,
    openTokenEndpoint: (url: URL) => RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#dependencies = dependencies;
    this.#sign = options.auth === undefined ? undefined : this.#signer(options.auth, openTokenEndpoint);
    this.#headers = options.headers.map(({ name, value }) => ({
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
    const configured: Header[] = [];
    const secrets: string[] = [];
    for (const { name, value } of this.#headers) {
      const text = typeof value === 'string' ? value : await value.read();
      configured.push(encodeHeader(name, text));
      if (typeof value !== 'string' && text.length >= MIN_SECRET_LENGTH) secrets.push(text);
    }
    const signature = (await this.#sign?.(request)) ?? { headers: [], secrets: [] };
    return {
      headers: mergeHeaders(configured, signature.headers),
      secrets: [...signature.secrets, ...secrets],
    };
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

  #signer(auth: AuthOptions, openTokenEndpoint: (url: URL) => RemoteEndpoint): Signer {
    switch (auth.scheme) {
      case 'authorization':
        return authorizationSigner(auth.type, this.#credential(auth.credentials));
      case 'basic':
        return basicSigner(auth.username, this.#credential(auth.password));
      case 'hmac':
        return hmacSigner(auth.accessKeyId, this.#credential(auth.secretAccessKey), auth.signedHeaders);
      case 'oauth2': {
        const clientSecret = this.#credential(auth.clientSecret);
        const tokens = new TokenSource(auth, clientSecret, openTokenEndpoint(auth.tokenUrl), this.#dependencies);
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
  const content = await readRegularFile(file).catch((error: Error) => {
    throw new RequestFailure('auth', `cannot read credential file ${file}: ${error.message}`, {}, { cause: error });
  });
  const text = content.toString().trim();
  if (text === '') throw new RequestFailure('auth', `credential file ${file} is empty`);
  return text;
}
