import type * as z from 'zod';
import { systemClock } from '../model/clock.ts';
import { isObject } from '../model/values.ts';
import { Authenticator } from '../service/auth/authenticator.ts';
import { exchange, isSuccess, RemoteEndpoint } from '../service/http/exchange.ts';
import { withoutIdentity } from '../service/http/tls-options.ts';
import { parseJson, RequestFailure, replyFailure } from '../service/request-failure.ts';
import type { httpClientOptions } from '../service/upstream-options.ts';

/** What an API answered, or why it cannot be read. */
export type ApiReply<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string; readonly status: number | undefined };

/** The rules and targets of a large Prometheus are some megabytes. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 128 * 1024 ** 2, connections: 4 };

/** The HTTP API of a Prometheus or Alertmanager, whose URL may have a path. */
export class ApiClient {
  readonly url: string;
  readonly #host: string;
  readonly #path: string;
  readonly #userAgent: string;
  readonly #endpoints: RemoteEndpoint[] = [];
  readonly #endpoint: RemoteEndpoint;
  readonly #authenticator: Authenticator;

  constructor({ href, host, origin, pathname }: URL, options: ReturnType<typeof httpClientOptions>) {
    this.url = href.replace(/\/+$/, '');
    this.#host = host;
    this.#path = pathname.replace(/\/+$/, '');
    this.#userAgent = options.userAgent;
    const open = (name: string, address: string, tls = options.tls) => {
      const endpoint = new RemoteEndpoint({ ...options, ...LIMITS, tls, name, origin: address });
      this.#endpoints.push(endpoint);
      return endpoint;
    };
    this.#endpoint = open(host, origin);
    const openEndpoint = (name: string, url: URL) => open(name, url.origin, withoutIdentity(options.tls));
    this.#authenticator = new Authenticator(options, openEndpoint, { clock: systemClock, random: Math.random });
  }

  /** Reads a reply, or what Prometheus has in its `data`. Another form is a failure of the API, too. */
  async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<ApiReply<z.output<Schema>>> {
    const reply = await this.#send('GET', path);
    if (!reply.ok) return reply;
    const json = parseJson(reply.value) ?? reply.value;
    const { data, error } = schema.safeParse(isObject(json) ? (json['data'] ?? json) : json);
    if (error === undefined) return { ok: true, value: data };
    return { ok: false, problem: `${this.#host}: unexpected reply to ${path.replace(/\?.*/, '')}`, status: undefined };
  }

  async post(path: string, body: unknown): Promise<ApiReply<string>> {
    return this.#send('POST', path, JSON.stringify(body));
  }

  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.destroy()));
  }

  async #send(method: 'GET' | 'POST', pathAndQuery: string, body?: string): Promise<ApiReply<string>> {
    const path = `${this.#path}/${pathAndQuery}`;
    const { signal } = new AbortController();
    const nowMs = Date.now();
    try {
      const signable = { host: this.#host, pathAndQuery: path, nowMs, signal };
      const { headers, secrets } = await this.#authenticator.authenticate(signable);
      const own = ['Accept', 'application/json', 'Content-Type', 'application/json', 'User-Agent', this.#userAgent];
      const request = { method, path, headers: [...own, ...headers.flat()], secrets, ...(body && { body }) };
      const reply = await exchange(this.#endpoint, request, signal);
      if (isSuccess(reply.status)) return { ok: true, value: reply.body.toString() };
      throw replyFailure(reply, { endpoint: this.#host, secrets, nowMs });
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      return { ok: false, problem: error.message.replace(/\.$/, ''), status: error.status };
    }
  }
}
