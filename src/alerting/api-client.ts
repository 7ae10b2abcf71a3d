import { parse } from 'yaml';
import * as z from 'zod';
import { systemClock } from '../model/clock.ts';
import { isObject } from '../model/values.ts';
import { Authenticator } from '../service/auth/authenticator.ts';
import { exchange, isSuccess, RemoteEndpoint } from '../service/http/exchange.ts';
import { withoutIdentity } from '../service/http/tls-options.ts';
import { parseJson, RequestFailure, replyFailure } from '../service/request-failure.ts';
import type { httpClientOptions } from '../service/upstream-options.ts';

/** The rules and targets of a large Prometheus are some megabytes. */
const LIMITS = { timeoutMs: 30_000, maxBytes: 128 * 1024 ** 2, connections: 4 };

export type ApiClient = ReturnType<typeof openApi>;

/** The HTTP API of a Prometheus or Alertmanager, whose URL may have a path. What fails rejects with a RequestFailure. */
export function openApi(url: URL, options: ReturnType<typeof httpClientOptions>) {
  const { host, pathname } = url;
  const endpoints: RemoteEndpoint[] = [];
  const open = (name: string, { origin }: URL, tls = options.tls) => {
    const opened = new RemoteEndpoint({ ...options, ...LIMITS, tls, name, origin });
    endpoints.push(opened);
    return opened;
  };
  const endpoint = open(host, url);
  const openOther = (name: string, other: URL) => open(name, other, withoutIdentity(options.tls));
  const authenticator = new Authenticator(options, openOther, { clock: systemClock, random: Math.random });

  async function send(method: 'GET' | 'POST', relativePath: string, body?: string): Promise<string> {
    const path = `${pathname.replace(/\/+$/, '')}/${relativePath}`;
    const { signal } = new AbortController();
    const nowMs = Date.now();
    const { headers, secrets } = await authenticator.authenticate({ host, pathAndQuery: path, nowMs, signal });
    const own = ['Accept', 'application/json', 'Content-Type', 'application/json', 'User-Agent', options.userAgent];
    const request = { method, path, headers: [...own, ...headers.flat()], secrets, ...(body && { body }) };
    const reply = await exchange(endpoint, request, signal);
    if (isSuccess(reply.status)) return reply.body.toString();
    throw replyFailure(reply, { endpoint: host, secrets, nowMs });
  }

  return {
    /** Reads a reply, or what Prometheus has in its `data`. */
    async get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
      const text = await send('GET', path);
      const json = parseJson(text) ?? text;
      const { data, error } = schema.safeParse(isObject(json) ? (json['data'] ?? json) : json);
      if (error === undefined) return data;
      throw new RequestFailure('body', `${host}: unexpected reply to ${path.replace(/\?.*/, '')}`);
    },
    post: (path: string, body: unknown) => send('POST', path, JSON.stringify(body)),
    close: () => Promise.all(endpoints.map((opened) => opened.destroy())),
  };
}

/** What a sentence says of the failure; any other error is a bug. */
export function problemOf(error: unknown): string {
  if (error instanceof RequestFailure) return error.message.replace(/\.$/, '');
  throw error;
}

/** A configuration as an API prints it. */
export function printedYaml<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text): unknown => parse(text))
    .pipe(schema);
}
