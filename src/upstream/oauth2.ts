import { exchange, type RemoteEndpoint, type Reply, untilAborted } from './exchange.ts';
import type { AuthOptions } from './options.ts';
import { RequestFailure, replyFailure } from './request-failure.ts';
import { type Credential, encodeBasicCredentials, MIN_SECRET_LENGTH } from './signer.ts';

type OAuth2Options = Extract<AuthOptions, { scheme: 'oauth2' }>;

interface Token {
  readonly text: string;
  readonly usableUntilMs: number;
}

/** Where the client's id and secret go in a token request. */
type Style = 'header' | 'body';

const MAX_MARGIN_MS = 10_000;

/** The access token of the client credentials grant: fetched once for all requests, kept until shortly before it expires. */
export class TokenSource {
  readonly #options: OAuth2Options;
  readonly #secret: Credential;
  readonly #endpoint: RemoteEndpoint;
  readonly #now: () => number;
  #token: Token | undefined;
  #fetching: Promise<Token> | undefined;
  #acceptedStyle: Style | undefined;

  constructor(options: OAuth2Options, secret: Credential, endpoint: RemoteEndpoint, now: () => number) {
    this.#options = options;
    this.#secret = secret;
    this.#endpoint = endpoint;
    this.#now = now;
  }

  /** The signal bounds the caller's wait, never the fetch: other requests may be waiting for it. */
  async read(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined && this.#now() < this.#token.usableUntilMs) return this.#token.text;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return (await untilAborted(this.#fetching, signal)).text;
  }

  invalidate(): void {
    this.#token = undefined;
  }

  async #fetch(): Promise<Token> {
    const secret = await this.#secret.read();
    let style = this.#acceptedStyle ?? 'header';
    let reply = await this.#request(style, secret);
    if (isRejected(reply) && this.#acceptedStyle === undefined) {
      style = 'body';
      reply = await this.#request(style, secret);
    }
    if (reply.status < 200 || reply.status > 299) throw this.#failure(reply, secret);
    this.#token = this.#readToken(reply);
    this.#acceptedStyle = style;
    return this.#token;
  }

  #request(style: Style, secret: string): Promise<Reply> {
    const { clientId, scopes, endpointParams, tokenUrl } = this.#options;
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scopes.length > 0) form.set('scope', scopes.join(' '));
    for (const [name, value] of Object.entries(endpointParams)) form.set(name, value);
    const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'Accept', 'application/json'];
    if (style === 'header') {
      headers.push('Authorization', `Basic ${encodeBasicCredentials(formEncoded(clientId), formEncoded(secret))}`);
    } else {
      form.set('client_id', clientId);
      form.set('client_secret', secret);
    }
    const request = { method: 'POST', path: tokenUrl.pathname + tokenUrl.search, headers, body: form.toString() } as const;
    return exchange(this.#endpoint, request, new AbortController().signal);
  }

  #failure(reply: Reply, secret: string): RequestFailure {
    const { clientId, endpointParams } = this.#options;
    const values = [secret, ...Object.values(endpointParams).filter((value) => value.length >= MIN_SECRET_LENGTH)];
    const secrets = [...values, ...values.map(formEncoded), encodeBasicCredentials(formEncoded(clientId), formEncoded(secret))];
    const context = { endpoint: this.#endpoint.name, secrets, nowMs: this.#now() };
    const { reason, message, retryable, retryAfterMs } = replyFailure(reply, context);
    // Not `unauthorized`: a new token cannot help when none is issued.
    return new RequestFailure(isRejected(reply) ? 'auth' : reason, message, { retryable, retryAfterMs });
  }

  #readToken({ body }: Reply): Token {
    const { access_token: text, expires_in: expiresIn } = jsonObject(body);
    if (typeof text !== 'string' || text === '') {
      throw new RequestFailure('body', `${this.#endpoint.name}: expected a JSON object with an access_token`);
    }
    const lifetimeMs = typeof expiresIn === 'number' || typeof expiresIn === 'string' ? Number(expiresIn) * 1000 : Number.NaN;
    if (Number.isNaN(lifetimeMs)) return { text, usableUntilMs: Number.POSITIVE_INFINITY };
    return { text, usableUntilMs: this.#now() + lifetimeMs - Math.min(MAX_MARGIN_MS, lifetimeMs / 10) };
  }
}

function isRejected({ status }: Reply): boolean {
  return status === 400 || status === 401;
}

/** RFC 6749 requires id and secret to be form-encoded before they become a user name and a password. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function jsonObject(body: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}
