import { onTestFinished } from 'vitest';
import type { FailureReason } from '../../../src/station/failure.ts';
import { type ClientDependencies, UpstreamClient } from '../../../src/upstream/client.ts';
import type { RequestObserver } from '../../../src/upstream/observer.ts';
import type { UpstreamOptions } from '../../../src/upstream/options.ts';

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
  get(path?: string, context?: { signal?: AbortSignal; deadlineMs?: number }): Promise<string>;
  /** The failure of a request that must fail. */
  failure(path?: string): Promise<Error & { reason?: FailureReason }>;
}

/** A client of the service at this URL, closed when the test ends. */
export function testClient(
  baseUrl: URL,
  overrides: Partial<UpstreamOptions> = {},
  { startMs = Date.now(), ...dependencies }: Partial<ClientDependencies> & { startMs?: number } = {},
): TestClient {
  const observer = new RecordingObserver();
  const sleeps: number[] = [];
  let nowMs = startMs;
  const now = () => nowMs;
  const sleep = async (ms: number) => {
    sleeps.push(ms);
    nowMs += ms;
  };
  const options = { ...CLIENT_OPTIONS, baseUrl, ...overrides };
  const client = new UpstreamClient(options, observer, { random: () => 0.5, now, sleep, ...dependencies });
  onTestFinished(() => client.close());
  const get: TestClient['get'] = async (path = '/list', { signal = new AbortController().signal, deadlineMs = Number.MAX_VALUE } = {}) =>
    client.get(path, { signal, deadlineMs }, (body) => Buffer.from(body).toString());
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
