import { afterEach } from 'vitest';
import type { TlsRules } from '../../src/web/access/rules.ts';
import { createApp } from '../../src/web/app.ts';
import type { WebOptions } from '../../src/web/options.ts';
import type { ExporterPort } from '../../src/web/port.ts';
import { listen, type RunningServer } from '../../src/web/server.ts';
import { fakeExporter } from './fake-exporter.ts';
import { type Answer, type Asking, ask, LOOPBACK } from './http-client.ts';

/** Every path that can be read, of an exporter as `fakeExporter` makes it. */
export const READABLE_PATHS = [
  '/metrics',
  '/probe?station=prod',
  '/sd',
  '/',
  '/-/healthy',
  '/-/ready',
  '/config',
  '/reference',
  '/stations/prod',
  '/stations/prod/resources/a',
];

/** What every answer carries, so that the tests can name the rest. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  connection: 'close',
};

export interface RunningApp {
  readonly port: number;
  /** What was reported as a bug of ours. */
  readonly reported: readonly unknown[];
  readonly ask: (path: string, asking?: Asking) => Promise<Answer>;
}

const running: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)));
});

/** The app on a port of its own until the test ends. */
export async function startApp(
  exporter: Partial<ExporterPort> = {},
  options: Partial<WebOptions> = {},
  tls?: TlsRules,
): Promise<RunningApp> {
  const reported: unknown[] = [];
  const app = createApp(fakeExporter(exporter), {
    telemetryPath: '/metrics',
    enableLifecycle: false,
    maxRequests: 40,
    scrapeTimeoutMs: 10_000,
    timeoutOffsetMs: 500,
    version: '1.2.3',
    report: (error) => reported.push(error),
    ...options,
  });
  const server = await listen(app, [LOOPBACK], { tls });
  running.push(server);
  const port = server.addresses[0]?.port ?? 0;
  return { port, reported, ask: (path, asking) => ask(port, path, asking) };
}

export function plainText(status: number, body: string, headers: Record<string, string> = {}): Answer {
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
