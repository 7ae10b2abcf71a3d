import { onTestFinished } from 'vitest';
import type { FailureReason } from '../../../src/model/failure.ts';
import type { ListingContext } from '../../../src/model/listing.ts';
import type { AuthOptions, UpstreamOptions } from '../../../src/model/upstream-options.ts';
import { type ClientDependencies, systemDependencies, UpstreamClient } from '../../../src/upstream/http/client.ts';
import type { RequestObserver } from '../../../src/upstream/http/observer.ts';
import { listingContext } from './context.ts';

export class RecordingObserver implements RequestObserver {
  waitingNow = 0;
  started_ = 0;
  retries = 0;
  waitedSeconds = 0;
  throttlings = 0;
  limit = Number.NaN;
  readonly durations: number[] = [];
  readonly outcomes: (FailureReason | undefined)[] = [];

  waiting(change: 1 | -1): void {
    this.waitingNow += change;
  }
  started(): void {
    this.started_ += 1;
  }
  ended(seconds: number, failure: FailureReason | undefined): void {
    this.durations.push(seconds);
    this.outcomes.push(failure);
  }
  retried(): void {
    this.retries += 1;
  }
  waited(seconds: number): void {
    this.waitedSeconds += seconds;
  }
  throttled(): void {
    this.throttlings += 1;
  }
  limited(requestsPerSecond: number): void {
    this.limit = requestsPerSecond;
  }
}

export interface TestClient {
  readonly client: UpstreamClient;
  readonly observer: RecordingObserver;
  /** The requested delays; each only advances the client's own clock. */
  readonly sleeps: number[];
  get(path?: string, context?: Partial<ListingContext>): Promise<string>;
  /** The failure of a request that must fail. */
  failure(path?: string): Promise<Error & { reason?: FailureReason }>;
}

interface TestTime {
  readonly startMs: number;
  readonly now: () => number;
  /** The same as `now` unless given. */
  readonly wallNow?: () => number;
  readonly sleep: ClientDependencies['sleep'];
  readonly random: () => number;
}

/** Timers of the client take their time from `sleep`. */
function dependenciesOf({ now, wallNow = now, sleep, random }: Omit<TestTime, 'startMs'>): ClientDependencies {
  const schedule = (run: () => void, delayMs: number) => {
    if (delayMs === 0) return systemDependencies.schedule(run, 0);
    const cancelled = new AbortController();
    sleep(delayMs, cancelled.signal).then(
      () => cancelled.signal.aborted || run(),
      () => undefined,
    );
    return () => cancelled.abort();
  };
  return { clock: { wallMs: wallNow, elapsedMs: now }, sleep, random, schedule };
}

/** A client of the service at this URL, closed when the test ends. */
export function testClient(
  baseUrl: URL,
  overrides: Partial<UpstreamOptions> = {},
  { startMs = Date.now(), ...overridden }: Partial<TestTime> = {},
): TestClient {
  const observer = new RecordingObserver();
  const sleeps: number[] = [];
  let nowMs = startMs;
  const time = {
    now: () => nowMs,
    sleep: async (ms: number) => {
      sleeps.push(ms);
      nowMs += ms;
    },
    random: () => 0.5,
    ...overridden,
  };
  const client = new UpstreamClient({ ...CLIENT_OPTIONS, baseUrl, ...overrides }, observer, dependenciesOf(time));
  onTestFinished(() => client.close());
  const get: TestClient['get'] = async (path = '/list', context = {}) =>
    client.get(path, listingContext(context), (body) => Buffer.from(body).toString());
  const failure = async (path?: string) => {
    const error = await get(path).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof Error)) throw new Error('the request did not fail');
    return error;
  };
  return { client, observer, sleeps, get, failure };
}

export const CLIENT_OPTIONS: Omit<UpstreamOptions, 'baseUrl'> = {
  name: 'main',
  timeoutMs: 10_000,
  concurrency: 8,
  requestsPerSecond: 0,
  maxRetries: 0,
  pageSize: 100,
  maxPageBytes: 1024 * 1024,
  listStyle: 'repeat',
  headers: [],
  userAgent: 'test-agent/1',
};

type Auth<Scheme> = Extract<AuthOptions, { scheme: Scheme }>;

export const bearer = (credentials: Auth<'authorization'>['credentials']): AuthOptions => ({
  scheme: 'authorization',
  type: 'Bearer',
  credentials,
});

export const oauth2 = (tokenUrl: URL, overrides: Partial<Auth<'oauth2'>> = {}): AuthOptions => ({
  scheme: 'oauth2',
  clientId: 'client',
  clientSecret: { text: 's3cr3t' },
  tokenUrl,
  scopes: [],
  endpointParams: {},
  ...overrides,
});
