import type { RemoteEndpoint } from '../http/exchange.ts';
import { proxySecrets } from '../redaction.ts';
import type { UpstreamOptions } from '../upstream-options.ts';
import { Credential, type SecretSource, secretSource } from './credential.ts';
import {
  type AuthDependencies,
  encodeHeader,
  type Renewable,
  type SignableRequest,
  type Signature,
  type Signer,
} from './scheme.ts';
import { MIN_SECRET_LENGTH } from './token-source.ts';

/** Authenticates requests to one upstream with its authentication scheme and its configured headers. */
export class Authenticator {
  readonly #signer: Signer | undefined;
  readonly #headers: readonly { readonly name: string; readonly value: string | Credential }[];
  readonly #renewables: Renewable[] = [];
  readonly #dependencies: AuthDependencies;
  readonly #proxySecrets: readonly string[];
  #credentialVersion = 0;

  constructor(
    { auth, headers, proxyUrl }: Pick<UpstreamOptions, 'auth' | 'headers' | 'proxyUrl'>,
    openEndpoint: (name: string, url: URL) => RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#dependencies = dependencies;
    this.#proxySecrets = proxySecrets(proxyUrl);
    this.#signer = auth?.newSigner({
      ...dependencies,
      openEndpoint,
      credential: (text, file) => this.#credential(secretSource(text, file)),
      renewsAfterRejection: (renewable) => this.#renewables.push(renewable),
    });
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
    const signature = await this.#signer?.sign(request);
    const headers = [...(signature?.headers ?? [])];
    const secrets = [...(signature?.secrets ?? [])];
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

  /** Ends the pause after credentials could not be obtained. */
  forgetFailure(): void {
    this.#signer?.forgetFailure?.();
  }

  #credential(source: SecretSource): Credential {
    const credential = new Credential(source, this.#dependencies.clock);
    // Only a file may have another value when it is read again.
    if ('file' in source) this.#renewables.push(credential);
    return credential;
  }
}
