import { isObject } from '../../model/values.ts';
import { untilAborted } from '../../tasks/until-aborted.ts';
import { exchange, isSuccess, type RemoteEndpoint } from '../http/exchange.ts';
import { proxySecrets } from '../redaction.ts';
import {
  cutReply,
  describeErrorBody,
  isMarkup,
  parseJson,
  type Reply,
  RequestFailure,
  replyFailure,
} from '../request-failure.ts';
import { type AuthDependencies, encodeBasicCredentials } from './scheme.ts';

/** What is requested, and for which client. */
interface Grant {
  readonly clientId: string;
  readonly tokenUrl: URL;
  readonly scopes: readonly string[];
  /** Additional parameters of the token request. */
  readonly params: ReadonlyMap<string, string>;
}

interface Token {
  readonly text: string;
  /** The client secret that it was issued for. */
  readonly secret: string;
  readonly issuedMs: number;
  /** From then on another one is requested. */
  readonly dueMs: number;
  /** Until then it is used while no other one is issued. */
  readonly expiresMs: number;
}

/** Where the client's id and secret go in a token request. */
type Style = 'header' | 'body';

/** Headers and parameters that are configured as secrets may be none: shorter values would hide too many replies. */
export const MIN_SECRET_LENGTH = 4;

const MAX_MARGIN_MS = 10_000;

/** Shorter lifetimes would mean a token for every page. */
const MIN_USE_MS = 10_000;

/** The first delay after a failure; it doubles with each further one. */
const MIN_DELAY_MS = 1000;

const MAX_DELAY_MS = 5 * 60_000;

/** While the token endpoint is down, no attempt counts against the account, and data should be back soon. */
const MAX_UNAVAILABLE_DELAY_MS = 30_000;

/**
 * The access token of the client credentials grant: fetched once for all requests, and again shortly before it expires. A failure is
 * kept for a growing delay, unless the secret changes: repeated attempts with a wrong one can lock the account.
 */
export class TokenSource {
  readonly #grant: Grant;
  /** Reads the client secret, from the configuration or a file. */
  readonly #readSecret: () => Promise<string>;
  readonly #endpoint: RemoteEndpoint;
  readonly #dependencies: AuthDependencies;
  #token: Token | undefined;
  /** Whether the service rejected the token. */
  #isRejected = false;
  /** Tokens that the service rejected in a row. */
  #rejectedTokens = 0;
  /** Token requests that failed in a row. */
  #failedRequests = 0;
  /** The token was rejected, or a request for one has failed: until then none is requested, unless the secret changes. */
  #delay: { readonly secret: string; readonly untilMs: number; readonly failure?: RequestFailure } | undefined;
  #fetching: Promise<Token> | undefined;
  #style: Style = 'header';
  /** Until the token endpoint has accepted a style, a rejection selects the other one. */
  #isStyleAccepted = false;

  constructor(
    grant: Grant,
    readSecret: () => Promise<string>,
    endpoint: RemoteEndpoint,
    dependencies: AuthDependencies,
  ) {
    this.#grant = grant;
    this.#readSecret = readSecret;
    this.#endpoint = endpoint;
    this.#dependencies = dependencies;
  }

  /** The signal bounds the caller's wait, never the fetch: other requests may be waiting for it. */
  async read(signal: AbortSignal): Promise<string> {
    if (this.#token && !this.#delay && this.#nowMs() < this.#token.dueMs) return this.#token.text;
    this.#fetching ??= this.#renewed().finally(() => {
      this.#fetching = undefined;
    });
    return (await untilAborted(this.#fetching, signal)).text;
  }

  /**
   * The service rejected this token, which may have been replaced meanwhile. Otherwise the next read fetches another one, unless the one
   * before was rejected too: then each token is used for a growing delay.
   */
  invalidate(text: string): void {
    if (this.#token?.text !== text || this.#isRejected) return;
    const { issuedMs, secret } = this.#token;
    this.#isRejected = true;
    if (this.#nowMs() - issuedMs > MAX_DELAY_MS) this.#rejectedTokens = 0;
    this.#delay ??= { secret, untilMs: issuedMs + this.#delayMs(this.#rejectedTokens, MAX_DELAY_MS) };
    this.#rejectedTokens += 1;
  }

  /** What the token endpoint has received, which the service may know too. */
  secrets(secret = this.#token?.secret ?? ''): string[] {
    return [
      secret,
      formEncoded(secret),
      ...[...this.#grant.params.values()].filter((value) => value.length >= MIN_SECRET_LENGTH),
      ...proxySecrets(this.#endpoint.options.proxyUrl),
    ];
  }

  /** Ends the delay after a failure; a rejected token is still replaced. */
  forgetFailure(): void {
    if (this.#delay) this.#delay = { secret: this.#delay.secret, untilMs: Number.NEGATIVE_INFINITY };
    this.#rejectedTokens = 0;
    this.#failedRequests = 0;
  }

  async #renewed(): Promise<Token> {
    const secret = await this.#readSecret();
    if (this.#delay?.secret !== secret) this.forgetFailure();
    const { untilMs = 0, failure } = this.#delay ?? {};
    const delayMs = untilMs - this.#nowMs();
    if (delayMs > 0 && failure) return this.#tokenUntilExpiry(failure, delayMs);
    if (delayMs > 0 && this.#token && this.#nowMs() < this.#token.expiresMs) return this.#token;
    return this.#fetch(secret, failure === undefined);
  }

  /** The token, used until it expires because no other one is issued; without one, the failure: another request before would get the same. */
  #tokenUntilExpiry(failure: RequestFailure, retryAfterMs: number): Token {
    if (this.#token && !this.#isRejected && this.#nowMs() < this.#token.expiresMs) return this.#token;
    throw failure.with({ retryAfterMs });
  }

  async #fetch(secret: string, isFirst: boolean): Promise<Token> {
    try {
      this.#token = await this.#requestToken(secret, isFirst);
      this.#isRejected = false;
      this.#failedRequests = 0;
      this.#delay = undefined;
      return this.#token;
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      this.#failedRequests += 1;
      const failure = this.#tokenFailure(error);
      const backoffMs = this.#delayMs(this.#failedRequests, error.retryable ? MAX_UNAVAILABLE_DELAY_MS : MAX_DELAY_MS);
      const delayMs = Math.max(backoffMs, error.retryAfterMs ?? 0);
      this.#delay = { secret, untilMs: this.#nowMs() + delayMs, failure };
      return this.#tokenUntilExpiry(failure, delayMs);
    }
  }

  /** Without the status, which is not the service's: a new token cannot help when none is issued. */
  #tokenFailure(failure: RequestFailure): RequestFailure {
    const tokenRequest = { host: this.#grant.tokenUrl.host, reason: failure.reason };
    return failure.with({ reason: 'auth', status: undefined, tokenRequest });
  }

  #nowMs(): number {
    return this.#dependencies.clock.elapsedMs();
  }

  /** With equal jitter, so that replicas do not stay in step. */
  #delayMs(failures: number, maxMs: number): number {
    if (failures === 0) return 0;
    const doubledMs = MIN_DELAY_MS * 2 ** (failures - 1);
    const jitter = (1 + this.#dependencies.random()) / 2;
    return jitter * Math.min(maxMs, doubledMs);
  }

  /** Tries both styles until one is accepted; after a failure one per attempt, in turn. */
  async #requestToken(secret: string, isFirst: boolean): Promise<Token> {
    let reply = await this.#request(secret);
    if (isRejected(reply) && isFirst && !this.#isStyleAccepted) reply = await this.#request(secret);
    if (!isSuccess(reply.status)) {
      const nowMs = this.#dependencies.clock.wallMs();
      const endpoint = this.#endpoint.options.name;
      throw replyFailure(reply, { endpoint, secrets: this.secrets(secret), nowMs });
    }
    const token = this.#readToken(reply, secret);
    this.#isStyleAccepted = true;
    return token;
  }

  async #request(secret: string): Promise<Reply> {
    const { clientId, scopes, params, tokenUrl } = this.#grant;
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scopes.length > 0) form.set('scope', scopes.join(' '));
    for (const [name, value] of params) form.set(name, value);
    const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'Accept', 'application/json'];
    if (this.#style === 'header') {
      headers.push('Authorization', `Basic ${encodeBasicCredentials(formEncoded(clientId), formEncoded(secret))}`);
    } else {
      form.set('client_id', clientId);
      form.set('client_secret', secret);
    }
    const reply = await exchange(
      this.#endpoint,
      {
        method: 'POST',
        path: tokenUrl.pathname + tokenUrl.search,
        headers,
        body: form.toString(),
        secrets: this.secrets(secret),
      },
      new AbortController().signal,
    );
    if (isRejected(reply) && !this.#isStyleAccepted) this.#style = this.#style === 'header' ? 'body' : 'header';
    return reply;
  }

  #readToken({ body }: Reply, secret: string): Token {
    const json = parseJson(body.toString());
    const fields: Readonly<Record<string, unknown>> = isObject(json) ? json : {};
    const { access_token: text, expires_in: expiresIn } = fields;
    if (json === undefined && BEGIN_OF_OBJECT.test(body.toString())) throw cutReply(body.length);
    if (typeof text !== 'string' || text === '') {
      // Another reply may have the token under another name.
      const got = isMarkup(body) ? `, got ${describeErrorBody(body, this.secrets(secret))}` : '';
      const { name } = this.#endpoint.options;
      throw new RequestFailure('body', `${name}: expected a JSON object with an access_token${got}`);
    }
    const issuedMs = this.#nowMs();
    const lifetimeMs = lifetimeMsOf(expiresIn);
    const marginMs = Math.min(MAX_MARGIN_MS, lifetimeMs / 10);
    const dueMs = issuedMs + Math.max(MIN_USE_MS, lifetimeMs - marginMs);
    return { text, secret, issuedMs, dueMs, expiresMs: Math.max(dueMs, issuedMs + lifetimeMs) };
  }
}

const BEGIN_OF_OBJECT = /^\s*\{/;

/** A token without a positive lifetime is used until the service rejects it. */
function lifetimeMsOf(expiresIn: unknown): number {
  const lifetimeMs = Number(expiresIn) * 1000;
  return lifetimeMs > 0 ? lifetimeMs : Number.POSITIVE_INFINITY;
}

function isRejected({ status }: Reply): boolean {
  return status === 400 || status === 401;
}

/** RFC 6749 requires id and secret to be form-encoded before they become a user name and a password. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
