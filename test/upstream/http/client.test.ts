import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { UpstreamClient } from '../../../src/upstream/http/client.ts';
import { heldByBuffers } from '../../held-by-buffers.ts';
import { eventually } from '../../web/eventually.ts';
import { CLIENT_OPTIONS, oauth2, RecordingObserver, testClient } from '../support/client.ts';
import { ManualClock, settled } from '../support/clock.ts';
import { listingContext } from '../support/context.ts';
import { temporaryFile } from '../support/files.ts';
import { closed, startService } from '../support/service.ts';

/** Answers with the given statuses in order, then repeats the last one. */
function statuses(...list: (number | readonly [number, Record<string, string>])[]) {
  let next = 0;
  return (_request: unknown, response: ServerResponse) => {
    const [status, headers] = [list[Math.min(next, list.length - 1)] ?? 500].flat() as [
      number,
      Record<string, string>?,
    ];
    next += 1;
    response.writeHead(status, headers).end(status === 200 ? '{"resources":[]}' : '{"message":"no luck"}');
  };
}

const text = (body: Uint8Array) => Buffer.from(body).toString();

describe('UpstreamClient', () => {
  it('returns the body of any 2xx', async () => {
    const service = await startService((request, response) =>
      response.writeHead(request.url === '/a' ? 200 : 206).end(`body of ${request.url}`),
    );
    const { get, observer } = testClient(service.url);
    await expect(get('/a')).resolves.toBe('body of /a');
    await expect(get('/b?c=%20d')).resolves.toBe('body of /b?c=%20d');
    expect(observer).toMatchObject({ started_: 2, outcomes: [undefined, undefined], retries: 0, waitingNow: 0 });
  });

  it('sends only its own headers and the configured ones', async () => {
    const service = await startService(statuses(200));
    const headers = [
      { name: 'X-Tenant', value: { text: 'a' } },
      { name: 'X-Tenant', value: { text: 'b' } },
      { name: 'X-Token', value: { file: temporaryFile('token', 'from-file\n') } },
    ];
    await testClient(service.url, { headers }).get();
    expect(service.requests[0]?.rawHeaders).toEqual([
      ...['host', service.url.host],
      ...['connection', 'keep-alive'],
      ...['Accept', 'application/json'],
      ...['Content-Type', 'application/json'],
      ...['User-Agent', 'test-agent/1'],
      ...['X-Tenant', 'a'],
      ...['X-Tenant', 'b'],
      ...['X-Token', 'from-file'],
    ]);
  });

  it('holds no memory for large pages after they are read', async () => {
    const page = Buffer.alloc(8 * 1024 * 1024, ' ');
    const service = await startService((_request, response) => response.writeHead(200).end(page));
    const { client } = testClient(service.url, { maxPageBytes: page.length });
    const context = listingContext();
    const get = () => client.get('/list', context, (body) => body.length);
    const beforeBytes = heldByBuffers();
    expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill(page.length));
    await eventually(() => expect(heldByBuffers() - beforeBytes).toBeLessThan(page.length));
  });

  it('reuses its connection', async () => {
    const service = await startService(statuses(200));
    const { get } = testClient(service.url, { concurrency: 1 });
    await get();
    await get();
    expect(new Set(service.requests.map(({ socket }) => socket.remotePort)).size).toBe(1);
  });

  it.each([
    [302, 'status'],
    [403, 'forbidden'],
  ])('fails on a %i with reason %s, without a retry', async (status, reason) => {
    const service = await startService(statuses(status));
    const { failure, observer } = testClient(service.url, { maxRetries: 5 });
    const error = await failure();
    expect(error).toBeInstanceOf(ListingFailure);
    expect(error).toMatchObject({ reason });
    expect(service.requests).toHaveLength(1);
    expect(observer).toMatchObject({ outcomes: [reason], retries: 0 });
  });

  it.each([
    [408, 'status'],
    [429, 'rate_limited'],
    [500, 'status'],
    [503, 'status'],
  ])('retries a %i with growing delays, then fails with reason %s', async (status, reason) => {
    const service = await startService(statuses(status));
    const { failure, observer, sleeps } = testClient(service.url, { maxRetries: 3, concurrency: 100 });
    expect(await failure()).toMatchObject({ reason });
    expect(sleeps).toEqual(status === 429 ? [750, 1500, 3000] : [125, 250, 500]);
    expect(observer).toMatchObject({ started_: 4, outcomes: [reason, reason, reason, reason], retries: 3 });
  });

  it('obeys Retry-After in seconds and as a date', async () => {
    const startMs = Date.UTC(2026, 0, 1);
    const date = new Date(startMs + 30_000).toUTCString();
    const service = await startService(
      statuses([429, { 'Retry-After': '7' }], [503, { 'Retry-After': date }], [429, { 'Retry-After': '-1' }], 200),
    );
    const { get, sleeps } = testClient(service.url, { maxRetries: 3, concurrency: 100 }, { startMs });
    await get();
    expect(sleeps).toEqual([7000, 23_000, 3000]);
  });

  it('does not use up retries, nor fail, after a 503 beside accepted requests', async () => {
    const service = await startService(statuses(200, 503, 503, 503, 503, 503, 200));
    const { get, observer } = testClient(service.url, { maxRetries: 1 });
    await get();
    await get();
    expect(observer).toMatchObject({ retries: 5, throttlings: 5 });
  });

  it('keeps the hold of a client that it takes over', async () => {
    const service = await startService(statuses([429, { 'Retry-After': '60' }]));
    const time = { startMs: 0 };
    const former = testClient(service.url, {}, time);
    await former.failure();
    const next = testClient(service.url, { requestsPerSecond: 5 }, time);
    next.client.takeOver(former.client);
    expect(next.client.load()).toMatchObject({ holdMs: 60_000, requestsPerSecond: 5 });
    expect(next.client.heldMs()).toBe(0);
  });

  it('waits for a retry by the system clock by default', async () => {
    const service = await startService(statuses([503, { 'Retry-After': '0.01' }], 200));
    const observer = new RecordingObserver();
    const client = new UpstreamClient({ ...CLIENT_OPTIONS, baseUrl: service.url, maxRetries: 1 }, observer);
    const context = listingContext();
    await expect(client.get('/list', context, text)).resolves.toBe('{"resources":[]}');
    expect(observer).toMatchObject({ outcomes: ['status', undefined], retries: 1 });
    await client.close();
  });

  it('reports the duration of each request to the observer, whatever happens to the wall clock', async () => {
    const clock = new ManualClock();
    const service = await startService((_request, response) => {
      clock.nowMs += 1500;
      response.end();
    });
    const { get, observer } = testClient(service.url, {}, { now: clock.now, wallNow: () => 1e12 - 2 * clock.nowMs });
    await get();
    expect(observer.durations).toEqual([1.5]);
  });

  it('passes an internal error through unchanged and counts it as internal', async () => {
    const service = await startService(statuses(200));
    const { failure, observer } = testClient(service.url, { maxRetries: 3 });
    const error = await failure('/a path that no request line can hold');
    expect(error).not.toBeInstanceOf(ListingFailure);
    expect(observer).toMatchObject({ outcomes: ['internal'], retries: 0 });
  });

  it('fails requests in flight when it is closed', async () => {
    const service = await startService(() => undefined);
    const { client, get } = testClient(service.url, { maxRetries: 3 });
    const outcome = expect(get()).rejects.toThrow('The client is destroyed');
    while (service.requests.length === 0) await settled();
    await client.close();
    await outcome;
  });

  it('connects no more when it was closed before its first request', async () => {
    const service = await startService(statuses(200));
    const { client, get } = testClient(service.url);
    await client.close();
    await expect(get()).rejects.toThrow('The client is destroyed');
    expect(service.requests).toEqual([]);
  });
});

describe('UpstreamClient limits', () => {
  it('does not count queueing time against the request timeout', async () => {
    const clock = new ManualClock();
    const service = await startService(statuses(200));
    const { get } = testClient(
      service.url,
      { requestsPerSecond: 0.001, timeoutMs: 5000 },
      { now: clock.now, sleep: clock.sleep },
    );
    await get('/1');
    const second = get('/2');
    await clock.advance(1_000_000);
    await expect(second).resolves.toBe('{"resources":[]}');
  });

  it('emits no listener warning when many requests share a signal', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const service = await startService(statuses(200));
    const { get } = testClient(service.url, { concurrency: 2 });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 40 }, () => get('/list', { signal })));
    await settled();
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('UpstreamClient rate limiting', () => {
  it('lowers the rate when requests are throttled again and again, and reports it', async () => {
    const service = await startService(statuses(429));
    const { failure, observer } = testClient(service.url, { concurrency: 4, maxRetries: 5 });
    expect(observer.limit).toBe(Number.POSITIVE_INFINITY);
    await failure();
    expect(observer.throttlings).toBe(6);
    expect(observer.limit).toBeLessThan(1);
  });

  it('postpones the refresh whose request gets a Retry-After beyond its deadline, and others without a request', async () => {
    const service = await startService(statuses([429, { 'Retry-After': '300' }]));
    const { get } = testClient(service.url, { maxRetries: 2 }, { startMs: 0 });
    const postponed = { reason: 'rate_limited', isPostponed: true };
    await expect(get('/list', { deadlineMs: () => 120_000 })).rejects.toMatchObject(postponed);
    await expect(get('/other', { refreshTimeoutMs: 120_000 })).rejects.toMatchObject(postponed);
    expect(service.requests).toHaveLength(1);
  });

  it('postpones a started refresh that Retry-After leaves no time, at once or when it times out', async () => {
    const clock = new ManualClock();
    const service = await startService(statuses([429, { 'Retry-After': '60' }]));
    const { get, failure } = testClient(service.url, {}, { now: clock.now, sleep: clock.sleep });
    await failure();
    const postponed = { reason: 'rate_limited', isPostponed: true };
    const refreshTimeoutMs = 120_000;
    await expect(get('/next', { refreshTimeoutMs, deadlineMs: () => 59_999 })).rejects.toMatchObject(postponed);
    const timeout = new AbortController();
    let deadlineMs = 120_000;
    const waiting = get('/waiting', { refreshTimeoutMs, deadlineMs: () => deadlineMs, signal: timeout.signal });
    await clock.advance(30_000);
    deadlineMs = 30_000;
    timeout.abort(new ListingFailure('timeout', 'the refresh did not finish'));
    await expect(waiting).rejects.toMatchObject(postponed);
    expect(service.requests).toHaveLength(1);
  });

  it('fails as rate_limited, not as timeout, when the refresh times out while its requests are throttled', async () => {
    const clock = new ManualClock();
    const service = await startService(statuses([429, { 'Retry-After': '60' }]));
    const { get } = testClient(service.url, { maxRetries: 2 }, { now: clock.now, sleep: clock.sleep });
    const timeout = new AbortController();
    const request = get('/list', { signal: timeout.signal });
    while (clock.sleepers === 0) await settled();
    timeout.abort(new ListingFailure('timeout', 'the refresh did not finish'));
    await expect(request).rejects.toMatchObject({ reason: 'rate_limited' });
  });

  it('fails as timeout when the refresh times out on a request that hangs after a 429', async () => {
    const throttled = statuses(429);
    const service = await startService((request, response) => {
      if (service.requests.length === 1) throttled(request, response);
    });
    const { get } = testClient(service.url, { maxRetries: 2 });
    const timeout = new AbortController();
    const request = get('/list', { signal: timeout.signal });
    const outcome = expect(request).rejects.toMatchObject({ reason: 'timeout' });
    await eventually(() => expect(service.requests).toHaveLength(2));
    timeout.abort(new ListingFailure('timeout', 'the refresh did not finish'));
    await outcome;
  });

  it('does not lower the rate of the service for a 429 of its token endpoint', async () => {
    const service = await startService(statuses(200));
    const endpoint = await startService(statuses(429));
    const { client, observer } = testClient(service.url, { auth: oauth2(endpoint.url) });
    const context = listingContext();
    await expect(client.get('/100', context, text, () => '/50')).rejects.toMatchObject({ reason: 'rate_limited' });
    expect(endpoint.requests).toHaveLength(1);
    expect(observer).toMatchObject({ throttlings: 0, limit: Number.POSITIVE_INFINITY });
  });
});

describe('UpstreamClient page size', () => {
  const context = listingContext();

  /** Returns successively smaller pages. */
  const offer = (...paths: string[]) => {
    const left = [...paths];
    return () => left.shift();
  };

  it('requests a smaller page after a 413 without using up retries, and counts each request', async () => {
    const service = await startService((request, response) =>
      response.writeHead(request.url === '/10' ? 200 : 413).end(`body of ${request.url}`),
    );
    const { client, observer } = testClient(service.url, { maxRetries: 0, concurrency: 100 });
    const body = await client.get('/100', context, text, offer('/50', '/25', '/10', '/5'));
    expect(String(body)).toBe('body of /10');
    expect(service.requests.map(({ url }) => url)).toEqual(['/100', '/50', '/25', '/10']);
    expect(observer).toMatchObject({ retries: 3, started_: 4 });
  });

  it.each([
    ['fails when the page cannot be smaller', 413, 'status', ['/100', '/50']],
    ['keeps the page size when requests are throttled', 429, 'rate_limited', ['/100', '/100', '/100']],
  ])('%s', async (_what, status, reason, urls) => {
    const service = await startService(statuses(status));
    const { client } = testClient(service.url, { maxRetries: 2 });
    await expect(client.get('/100', context, text, offer('/50'))).rejects.toMatchObject({ reason });
    expect(service.requests.map(({ url }) => url)).toEqual(urls);
  });

  it('requests a smaller page when a request is throttled again and again while others are accepted', async () => {
    const service = await startService((request, response) =>
      response.writeHead(request.url === '/100' ? 429 : 200).end('[]'),
    );
    const { client } = testClient(service.url, { maxRetries: 1, concurrency: 4 });
    let isDone = false;
    const large = client.get('/100', context, text, offer('/50')).finally(() => {
      isDone = true;
    });
    while (!isDone) await client.get('/10', context, text);
    await large;
    expect(service.requests.map(({ url }) => url)).toContain('/50');
  });
});

describe('UpstreamClient abort', () => {
  it.each([
    ['by its caller', 'enough', undefined],
    ['at the deadline of the refresh', new ListingFailure('timeout', 'too late'), 'timeout'],
  ])('closes the connection of a request in flight that is aborted %s', async (_how, reason, outcome) => {
    const service = await startService(() => undefined);
    const { get, observer } = testClient(service.url, { maxRetries: 3 });
    const controller = new AbortController();
    const request = get('/list', { signal: controller.signal });
    while (service.requests.length === 0) await settled();
    controller.abort(reason);
    await expect(request).rejects.toBe(reason);
    await closed(service.requests[0]?.socket);
    expect(observer).toMatchObject({ outcomes: [outcome], retries: 0 });
  });

  it('stops reading a body, including that of an error, when the signal aborts', async () => {
    for (const status of [200, 500]) {
      const controller = new AbortController();
      const service = await startService((_request, response) =>
        response.writeHead(status).write('some', () => setImmediate(() => controller.abort('enough'))),
      );
      const { get } = testClient(service.url, { maxRetries: 3 });
      await expect(get('/list', { signal: controller.signal })).rejects.toBe('enough');
    }
  });

  it('ends the delay before a retry when the signal aborts', async () => {
    const clock = new ManualClock();
    const service = await startService(statuses(500));
    const { get, observer } = testClient(service.url, { maxRetries: 3 }, { sleep: clock.sleep });
    const controller = new AbortController();
    const outcome = get('/list', { signal: controller.signal });
    while (clock.sleepers === 0) await settled();
    controller.abort('enough');
    await expect(outcome).rejects.toBe('enough');
    expect(observer.retries).toBe(0);
  });
});
