import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { heldByBuffers } from '../../held-by-buffers.ts';
import { eventually } from '../../web/eventually.ts';
import { oauth2, servedClient } from '../support/client.ts';
import { listingContext } from '../support/context.ts';
import { temporaryFile } from '../support/files.ts';
import { closed, gatewayReply, replying, startService } from '../support/service.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';

/** Throttles every request. */
const throttling = (retryAfter?: string) =>
  replying('', 429, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });

const TIMEOUT = new ListingFailure('timeout', 'the refresh did not finish');

type Get = Awaited<ReturnType<typeof servedClient>>['get'];

/** A request that `abort` ends. */
function abortable(get: Get, context: Parameters<Get>[1] = {}) {
  const controller = new AbortController();
  const request = get('/list', { ...context, signal: controller.signal });
  // It may fail before the test expects it.
  request.catch(() => undefined);
  return { request, abort: (reason: unknown) => controller.abort(reason) };
}

describe('UpstreamClient', () => {
  it('sends only its own headers and the configured ones', async () => {
    const headers = [
      { name: 'X-Tenant', value: { text: 'a' } },
      { name: 'X-Tenant', value: { text: 'b' } },
      { name: 'X-Token', value: { file: temporaryFile('token', 'from-file\n') } },
    ];
    const { get, requests, url } = await servedClient(replying('{}'), { headers });
    await get();
    expect(requests[0]?.rawHeaders.join(' ')).toBe(
      `host ${url.host} connection keep-alive Accept-Encoding gzip Accept application/json Cache-Control no-cache Content-Type application/json User-Agent test-agent/1 X-Tenant a X-Tenant b X-Token from-file`,
    );
  });

  it('holds no memory for large pages after they are read', async () => {
    const page = Buffer.alloc(8 * 1024 * 1024, ' ');
    const { client } = await servedClient(replying(page), { maxPageBytes: page.length });
    const context = listingContext();
    const get = () => client.get('/list', context, (body) => body.bytes.length);
    const beforeBytes = heldByBuffers();
    expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill(page.length));
    await eventually(() => expect(heldByBuffers() - beforeBytes).toBeLessThan(page.length));
  });

  it('reports the duration of each request to the observer, whatever happens to the wall clock', async () => {
    const clock = new VirtualClock();
    const { get, observer } = await servedClient(
      (_request, response) => {
        clock.nowMs += 1500;
        response.end();
      },
      {},
      { clock, wallNow: () => 1e12 - 2 * clock.nowMs },
    );
    await get();
    expect(observer.durations).toEqual([1.5]);
  });

  it('passes an internal error through unchanged and counts it as internal', async () => {
    const { failure, observer } = await servedClient(replying('{}'), { maxRetries: 3 });
    const error = await failure('/a path that no request line can hold');
    expect(error).not.toBeInstanceOf(ListingFailure);
    expect(observer).toMatchObject({ outcomes: ['internal'], retries: 0 });
  });

  it('fails requests in flight when it is closed', async () => {
    const { client, get, requests } = await servedClient(() => undefined, { maxRetries: 3 });
    const outcome = expect(get()).rejects.toThrow('The client is destroyed');
    while (requests.length === 0) await settled();
    await client.close();
    await outcome;
  });

  it('requests a smaller page after a 413, whatever the retries, and fails if there is none', async () => {
    const { get, failure, requests, observer } = await servedClient(({ url }, response) =>
      response.writeHead(url === '/25' ? 200 : 413).end('a page'),
    );
    const smaller = ['/50', '/25'];
    expect(await get('/100', {}, () => smaller.shift())).toBe('a page');
    expect(requests.map(({ url }) => url)).toEqual(['/100', '/50', '/25']);
    expect(observer.retries).toBe(2);
    expect(await failure('/100')).toMatchObject({ status: 413 });
  });

  it('requests a smaller page at once when a gateway says 429 because of a message limit, which is no throttling', async () => {
    const tooLarge = gatewayReply('error-4mib');
    const { client, get, requests, observer } = await servedClient(
      (request, response) => (request.url === '/25' ? replying('a page') : tooLarge)(request, response),
      { maxRetries: 0 },
    );
    const smaller = ['/50', '/25'];
    expect(await get('/100', {}, () => smaller.shift())).toBe('a page');
    expect(requests.map(({ url }) => url)).toEqual(['/100', '/50', '/25']);
    expect(observer.throttlings).toBe(0);
    expect(client.limiter.load()).toMatchObject({ recentRequests: 3, recentThrottled: 0 });
  });

  it("pauses the requests for as long as a gateway's quota says", async () => {
    const { client, failure } = await servedClient(gatewayReply('error-retryinfo'), {}, { clock: new VirtualClock() });
    expect(await failure()).toMatchObject({ reason: 'rate_limited' });
    expect(client.limiter.load()).toMatchObject({ pauseMs: 30_000 });
  });

  it('leaves no listener on a signal that many requests share', async () => {
    const { get } = await servedClient(replying('{}'), { concurrency: 2 });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 40 }, () => get('/list', { signal })));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('UpstreamClient rate limiting', () => {
  it('postpones refreshes that Retry-After leaves no time: before and after they start, and when they time out', async () => {
    const clock = new VirtualClock();
    const { get, requests } = await servedClient(throttling('300'), { maxRetries: 2 }, { clock });
    const postponed = { reason: 'rate_limited', isPostponed: true };
    await expect(get('/first', { deadlineMs: () => 120_000 })).rejects.toMatchObject(postponed);
    await expect(get('/unstarted', { refreshTimeoutMs: 120_000 })).rejects.toMatchObject(postponed);
    await expect(get('/started', { deadlineMs: () => 299_999 })).rejects.toMatchObject(postponed);
    let deadlineMs = 600_000;
    const { request, abort } = abortable(get, { deadlineMs: () => deadlineMs });
    await clock.runUntil(30_000);
    deadlineMs = 30_000;
    abort(TIMEOUT);
    await expect(request).rejects.toMatchObject(postponed);
    expect(requests).toHaveLength(1);
  });

  it('fails as rate_limited, not as timeout, when the refresh times out while its requests are throttled', async () => {
    const clock = new VirtualClock();
    const { get } = await servedClient(throttling('60'), { maxRetries: 2 }, { clock });
    const { request, abort } = abortable(get);
    while (!clock.hasTimers) await settled();
    abort(TIMEOUT);
    await expect(request).rejects.toMatchObject({ reason: 'rate_limited' });
  });

  it('fails as rate_limited when the refresh times out while a page waits for the rate that the service accepts', async () => {
    const { client, get, failure, observer } = await servedClient(throttling(), { concurrency: 4, maxRetries: 5 });
    await failure();
    expect(observer.throttlings).toBe(6);
    expect(client.limiter.load().requestsPerSecond).toBeLessThan(1);
    const { request, abort } = abortable(get);
    abort(TIMEOUT);
    await expect(request).rejects.toMatchObject({ reason: 'rate_limited' });
  });

  it('fails as timeout when the refresh times out on a request that hangs after a 429', async () => {
    let received = 0;
    const { get } = await servedClient(
      (_request, response) => {
        received += 1;
        if (received === 1) response.writeHead(429).end();
      },
      { maxRetries: 2 },
    );
    const { request, abort } = abortable(get);
    await eventually(() => expect(received).toBe(2));
    abort(TIMEOUT);
    await expect(request).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('does not lower the rate of the service for a 429 of its token endpoint', async () => {
    const endpoint = await startService(throttling());
    const { client, get, observer } = await servedClient(replying('{}'), { auth: oauth2(endpoint.url) });
    await expect(get('/100', {}, () => '/50')).rejects.toMatchObject({ reason: 'auth' });
    expect(endpoint.requests).toHaveLength(1);
    expect(observer.throttlings).toBe(0);
    expect(client.limiter.load().requestsPerSecond).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('UpstreamClient abort', () => {
  it.each([
    ['by its caller', 'enough', undefined],
    ['at the deadline of the refresh', TIMEOUT, 'timeout'],
  ])('closes the connection of a request in flight that is aborted %s', async (_how, reason, outcome) => {
    const { get, observer, requests } = await servedClient(() => undefined, { maxRetries: 3 });
    const { request, abort } = abortable(get);
    while (requests.length === 0) await settled();
    abort(reason);
    await expect(request).rejects.toBe(reason);
    await closed(requests[0]?.socket);
    expect(observer).toMatchObject({ outcomes: [outcome], retries: 0 });
  });

  it.each([200, 500])('stops reading the body of a %i when the signal aborts', async (status) => {
    const controller = new AbortController();
    const { get } = await servedClient(
      (_request, response) =>
        response.writeHead(status).write('some', () => setImmediate(() => controller.abort('enough'))),
      { maxRetries: 3 },
    );
    await expect(get('/list', { signal: controller.signal })).rejects.toBe('enough');
  });

  it('ends the delay before a retry when the signal aborts', async () => {
    const clock = new VirtualClock();
    const { get, observer } = await servedClient(replying('', 500), { maxRetries: 3 }, { clock });
    const { request, abort } = abortable(get);
    while (!clock.hasTimers) await settled();
    abort('enough');
    await expect(request).rejects.toBe('enough');
    expect(observer.retries).toBe(0);
  });
});
