import type { RemoteEndpoint } from '../http/exchange.ts';
import { proxySecrets } from '../redaction.ts';
import type { UpstreamOptions } from '../upstream-options.ts';
import { readSecret, secretSource } from './credential.ts';
import { type AuthDependencies, encodeHeader, type SignableRequest, type Signature, type Signer } from './scheme.ts';
import { MIN_SECRET_LENGTH } from './token-source.ts';

/** Authenticates requests to one upstream with its authentication scheme and its configured headers. */
export class Authenticator {
  readonly #signer: Signer | undefined;
  readonly #headers: UpstreamOptions['headers'];
  readonly #proxySecrets: readonly string[];
  /** Whether a secret is in a file, which may have another content when it is read again. */
  #readsFiles: boolean;

  constructor(
    { auth, headers, proxyUrl }: Pick<UpstreamOptions, 'auth' | 'headers' | 'proxyUrl'>,
    openEndpoint: (name: string, url: URL) => RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#proxySecrets = proxySecrets(proxyUrl);
    this.#headers = headers;
    this.#readsFiles = headers.some(({ value }) => typeof value !== 'string' && 'file' in value);
    this.#signer = auth?.newSigner({
      ...dependencies,
      openEndpoint,
      secretReader: (text, file) => {
        this.#readsFiles ||= file !== undefined;
        const source = secretSource(text, file);
        return () => readSecret(source);
      },
    });
  }

  /** The headers for one request; those of the scheme override configured ones. */
  async authenticate(request: SignableRequest): Promise<Signature> {
    const signature = await this.#signer?.sign(request);
    const headers = [...(signature?.headers ?? [])];
    const secrets = [...(signature?.secrets ?? [])];
    const overridden = new Set(headers.map(([name]) => name.toLowerCase()));
    for (const { name, value } of this.#headers) {
      const text = typeof value === 'string' ? value : await readSecret(value);
      if (!overridden.has(name.toLowerCase())) headers.push(encodeHeader(name, text));
      if (typeof value !== 'string' && text.length >= MIN_SECRET_LENGTH) secrets.push(text);
    }
    return { headers, secrets: [...secrets, ...this.#proxySecrets], invalidate: signature?.invalidate };
  }

  /** Makes the next request obtain the credentials again, after the service rejected these; false when none can change. */
  renew(rejected: Signature | undefined): boolean {
    rejected?.invalidate?.();
    return this.#readsFiles || rejected?.invalidate !== undefined;
  }

  /** Ends the delay after credentials could not be obtained. */
  forgetFailure(): void {
    this.#signer?.forgetFailure?.();
  }
}
