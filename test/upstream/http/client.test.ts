import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { heldByBuffers } from '../../held-by-buffers.ts';
import { eventually } from '../../web/eventually.ts';
import { oauth2, servedClient, testClient } from '../support/client.ts';
import { listingContext } from '../support/context.ts';
import { temporaryFile } from '../support/files.ts';
import { closed, startService } from '../support/service.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';

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

const TIMEOUT = new ListingFailure('timeout', 'the refresh did not finish');
const BACKOFF = [125, 250, 500];

describe('UpstreamClient', () => {
  it('sends only its own headers and the configured ones', async () => {
    const headers = [
      { name: 'X-Tenant', value: { text: 'a' } },
      { name: 'X-Tenant', value: { text: 'b' } },
      { name: 'X-Token', value: { file: temporaryFile('token', 'from-file\n') } },
    ];
    const { get, requests, url } = await servedClient(statuses(200), { headers });
    await get();
    expect(requests[0]?.rawHeaders.join(' ')).toBe(
      `host ${url.host} connection keep-alive Accept application/json Content-Type application/json User-Agent test-agent/1 X-Tenant a X-Tenant b X-Token from-file`,
    );
  });

  it('holds no memory for large pages after they are read', async () => {
    const page = Buffer.alloc(8 * 1024 * 1024, ' ');
    const { client } = await servedClient((_request, response) => response.end(page), { maxPageBytes: page.length });
    const context = listingContext();
    const get = () => client.get('/list', context, (body) => body.length);
    const beforeBytes = heldByBuffers();
    expect(await Promise.all(Array.from({ length: 8 }, get))).toEqual(Array(8).fill(page.length));
    await eventually(() => expect(heldByBuffers() - beforeBytes).toBeLessThan(page.length));
  });

  it.each([
    [302, 'status', []],
    [403, 'forbidden', []],
    [408, 'status', BACKOFF],
    [429, 'rate_limited', [750, 1500, 3000]],
    [500, 'status', BACKOFF],
    [503, 'status', BACKOFF],
  ])('fails on a %i with reason %s, after retries with the delays %j', async (status, reason, delays) => {
    const { failure, observer, sleeps } = await servedClient(statuses(status), { maxRetries: 3, concurrency: 100 });
    const error = await failure();
    expect(error).toBeInstanceOf(ListingFailure);
    expect(error).toMatchObject({ reason });
    expect(sleeps).toEqual(delays);
    expect(observer).toMatchObject({ retries: delays.length, outcomes: Array(delays.length + 1).fill(reason) });
  });

  it('does not use up retries, nor fail, after a 503 beside accepted requests', async () => {
    const { get, observer } = await servedClient(statuses(200, 503, 503, 503, 503, 503, 200), { maxRetries: 1 });
    await get();
    await get();
    expect(observer).toMatchObject({ retries: 5, throttlings: 5 });
  });

  it('keeps the hold of a client that it takes over', async () => {
    const time = { startMs: 0 };
    const former = await servedClient(statuses([429, { 'Retry-After': '60' }]), {}, time);
    await former.failure();
    const { limiter } = testClient(former.url, { requestsPerSecond: 5 }, time).client;
    limiter.takeOver(former.client.limiter);
    expect(limiter.load()).toMatchObject({ holdMs: 60_000, requestsPerSecond: 5 });
    expect(limiter.holds).toBe(former.client.limiter.holds);
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
    const { failure, observer } = await servedClient(statuses(200), { maxRetries: 3 });
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

  it('connects no more when it was closed before its first request', async () => {
    const { client, get, requests } = await servedClient(statuses(200));
    await client.close();
    await expect(get()).rejects.toThrow('The client is destroyed');
    expect(requests).toEqual([]);
  });

  it('emits no listener warning when many requests share a signal', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const { get } = await servedClient(statuses(200), { concurrency: 2 });
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
    const { failure, observer } = await servedClient(statuses(429), { concurrency: 4, maxRetries: 5 });
    expect(observer.limit).toBe(Number.POSITIVE_INFINITY);
    await failure();
    expect(observer.throttlings).toBe(6);
    expect(observer.limit).toBeLessThan(1);
  });

  it('postpones refreshes that Retry-After leaves no time: before and after they start, and when they time out', async () => {
    const clock = new VirtualClock();
    const throttled = statuses([429, { 'Retry-After': '300' }]);
    const { get, requests } = await servedClient(throttled, { maxRetries: 2 }, { clock });
    const postponed = { reason: 'rate_limited', isPostponed: true };
    await expect(get('/first', { deadlineMs: () => 120_000 })).rejects.toMatchObject(postponed);
    await expect(get('/unstarted', { refreshTimeoutMs: 120_000 })).rejects.toMatchObject(postponed);
    await expect(get('/started', { deadlineMs: () => 299_999 })).rejects.toMatchObject(postponed);
    const timeout = new AbortController();
    let deadlineMs = 600_000;
    const waiting = get('/waiting', { deadlineMs: () => deadlineMs, signal: timeout.signal });
    await clock.runUntil(30_000);
    deadlineMs = 30_000;
    timeout.abort(TIMEOUT);
    await expect(waiting).rejects.toMatchObject(postponed);
    expect(requests).toHaveLength(1);
  });

  it('fails as rate_limited, not as timeout, when the refresh times out while its requests are throttled', async () => {
    const clock = new VirtualClock();
    const throttled = statuses([429, { 'Retry-After': '60' }]);
    const { get } = await servedClient(throttled, { maxRetries: 2 }, { clock });
    const timeout = new AbortController();
    const request = get('/list', { signal: timeout.signal });
    while (!clock.hasTimers) await settled();
    timeout.abort(TIMEOUT);
    await expect(request).rejects.toMatchObject({ reason: 'rate_limited' });
  });

  it('fails as rate_limited when the refresh times out while a page waits for the rate that the service accepts', async () => {
    const { get, failure, observer } = await servedClient(statuses(429), { concurrency: 4, maxRetries: 5 });
    await failure();
    expect(observer.limit).toBeLessThan(1);
    const timeout = new AbortController();
    const outcome = expect(get('/next', { signal: timeout.signal })).rejects.toMatchObject({ reason: 'rate_limited' });
    timeout.abort(TIMEOUT);
    await outcome;
  });

  it('fails as timeout when the refresh times out on a request that hangs after a 429', async () => {
    const throttled = statuses(429);
    let received = 0;
    const { get } = await servedClient(
      (request, response) => {
        received += 1;
        if (received === 1) throttled(request, response);
      },
      { maxRetries: 2 },
    );
    const timeout = new AbortController();
    const outcome = expect(get('/list', { signal: timeout.signal })).rejects.toMatchObject({ reason: 'timeout' });
    await eventually(() => expect(received).toBe(2));
    timeout.abort(TIMEOUT);
    await outcome;
  });

  it('does not lower the rate of the service for a 429 of its token endpoint', async () => {
    const endpoint = await startService(statuses(429));
    const { client, observer } = await servedClient(statuses(200), { auth: oauth2(endpoint.url) });
    const context = listingContext();
    await expect(client.get('/100', context, text, () => '/50')).rejects.toMatchObject({ reason: 'rate_limited' });
    expect(endpoint.requests).toHaveLength(1);
    expect(observer).toMatchObject({ throttlings: 0, limit: Number.POSITIVE_INFINITY });
  });
});

describe('UpstreamClient page size', () => {
  it.each([
    [
      'requests a smaller page after a 413, whatever the retries',
      [413, 413, 413, 200],
      undefined,
      ['/100', '/50', '/25', '/10'],
    ],
    ['fails when the page cannot be smaller', [413], 'status', ['/100', '/50', '/25', '/10']],
    ['keeps the page size when requests are throttled', [429], 'rate_limited', ['/100', '/100', '/100']],
  ])('%s', async (_what, replies, reason, paths) => {
    const { client, requests, observer } = await servedClient(statuses(...replies), { maxRetries: 2 });
    const smaller = ['/50', '/25', '/10'];
    const got = client.get('/100', listingContext(), text, () => smaller.shift());
    if (reason === undefined) await expect(got).resolves.toBe('{"resources":[]}');
    else await expect(got).rejects.toMatchObject({ reason });
    expect(requests.map(({ url }) => url)).toEqual(paths);
    expect(observer).toMatchObject({ retries: paths.length - 1, started_: paths.length });
  });
});

describe('UpstreamClient abort', () => {
  it.each([
    ['by its caller', 'enough', undefined],
    ['at the deadline of the refresh', TIMEOUT, 'timeout'],
  ])('closes the connection of a request in flight that is aborted %s', async (_how, reason, outcome) => {
    const { get, observer, requests } = await servedClient(() => undefined, { maxRetries: 3 });
    const controller = new AbortController();
    const request = get('/list', { signal: controller.signal });
    while (requests.length === 0) await settled();
    controller.abort(reason);
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
    const { get, observer } = await servedClient(statuses(500), { maxRetries: 3 }, { clock });
    const controller = new AbortController();
    const outcome = get('/list', { signal: controller.signal });
    while (!clock.hasTimers) await settled();
    controller.abort('enough');
    await expect(outcome).rejects.toBe('enough');
    expect(observer.retries).toBe(0);
  });
});
