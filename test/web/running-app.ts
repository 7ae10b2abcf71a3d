import { onTestFinished } from 'vitest';
import { OPEN_ACCESS, type TlsRules } from '../../src/web/access/rules.ts';
import { createApp } from '../../src/web/app.ts';
import type { ExporterPort, WebOptions } from '../../src/web/port.ts';
import { listen } from '../../src/web/server.ts';
import { issue } from '../service/support/certificates.ts';
import { fakeExporter } from './fake-exporter.ts';
import { NOW_MS } from './fake-station.ts';
import { type HttpResponse, httpRequest, LOOPBACK, type RequestOptions } from './http-client.ts';

/** Every path that serves a GET with `fakeExporter`. */
export const READABLE_PATHS = [
  '/metrics',
  '/probe?station=prod',
  '/sd',
  '/',
  '/-/healthy',
  '/-/ready',
  '/-/metrics',
  '/config',
  '/favicon.ico',
  '/search?search=a',
  '/search?search=a&format=csv',
  '/stations/prod',
  '/stations/prod/resources',
  '/stations/prod/refreshes',
  '/stations/prod/changes',
  '/?format=json',
  '/stations/prod/resources/a',
];

/** Headers of every response. */
const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  connection: 'close',
};

export type RunningApp = Awaited<ReturnType<typeof startApp>>;

const { cert, key } = issue({ name: 'server' });

/** TLS without client certificates, for clients that do not verify the server. */
export const SERVER_TLS: TlsRules = {
  context: { cert, key },
  client: { requested: false, required: false, verified: false },
};

/** Serves the app on its own port until the test ends. */
export async function startApp(
  exporter: Partial<ExporterPort> = {},
  options: Partial<WebOptions> = {},
  tls?: TlsRules,
) {
  /** Errors reported as exporter bugs. */
  const reported: unknown[] = [];
  /** Limits that were reached. */
  const limits: string[] = [];
  /** The clients that reached them. */
  const limited: (string | undefined)[] = [];
  const observer = {
    limitReached: (limit: string, client?: string) => {
      limits.push(limit);
      limited.push(client);
    },
  };
  const app = createApp(fakeExporter(exporter), {
    telemetryPath: '/metrics',
    enableLifecycle: false,
    maxRequests: 40,
    scrapeTimeoutMs: 60_000,
    timeoutOffsetMs: 500,
    version: '1.2.3',
    access: () => OPEN_ACCESS,
    now: () => NOW_MS,
    observer,
    report: (error) => reported.push(error),
    ...options,
  });
  const server = await listen(app, [LOOPBACK], { tls, observer });
  onTestFinished(() => server.close(0));
  const port = server.addresses[0]?.port ?? 0;
  const request = (path: string, requestOptions?: RequestOptions) => httpRequest(port, path, requestOptions);
  return { port, reported, limits, limited, request };
}

/** The response of an app with the defaults. */
export async function responseTo(path: string, options?: RequestOptions): Promise<HttpResponse> {
  return (await startApp()).request(path, options);
}

export function plainText(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  };
}

/** An error as clients get it that do not prefer HTML. */
export function errorText(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  return plainText(status, body, { vary: 'Accept', ...headers });
}
