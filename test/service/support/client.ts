import type { RequestListener } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import type { FailureReason } from '../../../src/model/failure.ts';
import type { RefreshContext } from '../../../src/model/listing.ts';
import { Secret } from '../../../src/schema/secret.ts';
import type { SecretSource } from '../../../src/service/auth/credential.ts';
import { type ConfiguredScheme, configuredScheme } from '../../../src/service/auth/schemes.ts';
import { type ClientDependencies, systemDependencies, UpstreamClient } from '../../../src/service/http/client.ts';
import type { RequestObserver } from '../../../src/service/request-observer.ts';
import type { UpstreamOptions } from '../../../src/service/upstream-options.ts';
import { upstream } from '../../../src/service/upstream-schema.ts';
import { listingContext } from './context.ts';
import { startService } from './service.ts';
import type { VirtualClock } from './virtual-clock.ts';

class RecordingObserver implements Partial<RequestObserver> {
  waitingNow = 0;
  retries = 0;
  throttlings = 0;
  readonly durations: number[] = [];
  readonly outcomes: (FailureReason | undefined)[] = [];

  waiting(change: 1 | -1): void {
    this.waitingNow += change;
  }
  ended(seconds: number, failure: FailureReason | undefined): void {
    this.durations.push(seconds);
    this.outcomes.push(failure);
  }
  retried(): void {
    this.retries += 1;
  }
  throttled(): void {
    this.throttlings += 1;
  }
}

interface TestTime {
  /** Without it, time advances only by the requested delays. */
  readonly clock?: VirtualClock | undefined;
  readonly wallNow?: () => number;
  readonly random?: () => number;
}

/** A client of the service at this URL, closed when the test ends. `sleeps` are the delays of its timers. */
export function testClient(
  baseUrl: URL,
  overrides: Partial<UpstreamOptions> = {},
  { clock, wallNow, random = () => 0.5 }: TestTime = {},
) {
  const observer = new RecordingObserver();
  const sleeps: number[] = [];
  let nowMs = Date.now();
  const now = clock?.now ?? (() => nowMs);
  const schedule: ClientDependencies['schedule'] = (run, delayMs) => {
    if (delayMs > 0 && clock) return clock.schedule(run, delayMs);
    if (delayMs > 0) sleeps.push(delayMs);
    nowMs += delayMs;
    return systemDependencies.schedule(run, 0);
  };
  const time = { clock: { wallMs: wallNow ?? now, elapsedMs: now }, random, schedule };
  const client = new UpstreamClient({ ...CLIENT_OPTIONS, baseUrl, ...overrides }, observer, time);
  onTestFinished(() => client.close());
  const get = (path = '/list', context: Partial<RefreshContext> = {}, smaller?: () => string | undefined) =>
    client.get(path, listingContext(context), async (body) => Buffer.from(await body.plain()).toString(), smaller);
  /** The failure of a request that must fail. */
  const failure = (path?: string): Promise<Error & { reason?: FailureReason }> =>
    get(path).then(
      () => {
        throw new Error('the request did not fail');
      },
      (error) => error,
    );
  return { client, observer, sleeps, get, failure };
}

/** A client of a service that answers so, and the requests that this receives. */
export async function servedClient(
  answer: RequestListener,
  overrides: Partial<UpstreamOptions> = {},
  time: TestTime = {},
) {
  const service = await startService(answer);
  return { ...service, ...testClient(service.url, overrides, time) };
}

export const CLIENT_OPTIONS: Omit<UpstreamOptions, 'baseUrl'> = {
  name: 'main',
  timeoutMs: 60_000,
  concurrency: 8,
  requestsPerSecond: 0,
  maxRetries: 0,
  pageSize: 100,
  maxPageBytes: 1024 * 1024,
  listStyle: 'repeat',
  headers: [],
  auth: undefined,
  tls: undefined,
  proxyUrl: undefined,
  unusedProxy: undefined,
  userAgent: 'test-agent/1',
};

/** The scheme of an upstream with these settings, as a configuration file has them. */
export function schemeOf(settings: object): ConfiguredScheme {
  const config = upstream.parse({ base_url: 'http://service', ...settings });
  return configuredScheme(config) ?? expect.unreachable();
}

export function bearer(source: SecretSource): ConfiguredScheme {
  const secret = 'text' in source ? { credentials: new Secret(source.text) } : { credentials_file: source.file };
  return configuredScheme({ authorization: { type: 'Bearer', ...secret } }) ?? expect.unreachable();
}

export function oauth2(tokenUrl: URL, settings: object = { client_secret: 's3cr3t' }): ConfiguredScheme {
  return schemeOf({ oauth2: { client_id: 'client', token_url: tokenUrl.href, ...settings } });
}
