import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { UpstreamOptions } from '../../../src/service/upstream-options.ts';
import { oauth2, servedClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { replying, startService } from '../support/service.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';

interface TokenRequest {
  readonly authorization: string | undefined;
  readonly form: Record<string, string>;
  readonly message: IncomingMessage;
}

interface Setting extends Partial<Pick<UpstreamOptions, 'headers' | 'maxRetries'>> {
  /** Returns whether it has answered a token request; otherwise a token is issued. */
  readonly endpoint?: (request: TokenRequest, response: ServerResponse) => boolean;
  readonly expiresIn?: unknown;
  /** By default the service repeats the credential that it was sent. */
  readonly service?: RequestListener;
  readonly auth?: Parameters<typeof oauth2>[1];
  readonly time?: Parameters<typeof servedClient>[2];
}

/** A client of a service and of a token endpoint, which numbers its tokens. */
async function setUp({
  endpoint = () => false,
  expiresIn,
  service = (request, response) => response.end(request.headers.authorization),
  auth,
  time,
  ...options
}: Setting = {}) {
  const tokenRequests: TokenRequest[] = [];
  let issued = 0;
  const { url } = await startService(async (message, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(message)));
    const request = { authorization: message.headers.authorization, form, message };
    tokenRequests.push(request);
    if (endpoint(request, response)) return;
    issued += 1;
    response.end(JSON.stringify({ access_token: `token-${issued}`, token_type: 'bearer', expires_in: expiresIn }));
  });
  const tokenUrl = new URL('/oauth/token', url);
  const clock = new VirtualClock();
  // The wall clock runs backwards: tokens must not depend on it.
  const times = { clock, wallNow: () => 1e12 - 2 * clock.nowMs, random: () => 1, ...time };
  const client = await servedClient(service, { auth: oauth2(tokenUrl, auth), ...options }, times);
  return { ...client, clock, tokenUrl, tokenRequests };
}

/** In seconds. */
const PAUSES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];

const refuse =
  (status: number, body = '', headers = {}) =>
  (_request: TokenRequest, response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
    return true;
  };

const REPEATED = '{"error":"invalid_client","error_description":"no client has the secret s3cr3t"}';

describe('TokenSource', () => {
  it('fetches a token with the client credentials grant and reuses it', async () => {
    const { get, observer, tokenRequests } = await setUp({
      auth: {
        client_id: 'a b:ü',
        client_secret: 'x+y/z=',
        scopes: ['read', 'list all'],
        endpoint_params: { audience: 'monitor' },
      },
      headers: [{ name: 'X-Key', value: { text: 'for the service alone' } }],
      expiresIn: 3600,
    });
    expect(await get()).toBe('Bearer token-1');
    expect(await get()).toBe('Bearer token-1');
    expect(tokenRequests).toHaveLength(1);
    const [request] = tokenRequests;
    expect(request).toMatchObject({
      authorization: `Basic ${Buffer.from('a+b%3A%C3%BC:x%2By%2Fz%3D').toString('base64')}`,
      form: { grant_type: 'client_credentials', scope: 'read list all', audience: 'monitor' },
      message: { method: 'POST', url: '/oauth/token' },
    });
    expect(request?.message.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(request?.message.headers).not.toHaveProperty('x-key');
    expect(observer.outcomes).toEqual([undefined, undefined]);
  });

  it('sends id and secret in the body after a 401, and keeps the accepted style, also when it fails later', async () => {
    let isDown = false;
    const { get, failure, clock, tokenRequests } = await setUp({
      endpoint: (request, response) =>
        (isDown || request.authorization !== undefined) && refuse(401)(request, response),
      expiresIn: 20,
    });
    await get();
    clock.nowMs += 20_000;
    await get();
    clock.nowMs += 20_000;
    isDown = true;
    expect(await failure()).toMatchObject({ reason: 'auth' });
    const inBody = { grant_type: 'client_credentials', client_id: 'client', client_secret: 's3cr3t' };
    expect(tokenRequests.map(({ form }) => form)).toEqual([
      { grant_type: 'client_credentials' },
      ...[inBody, inBody, inBody],
    ]);
  });

  it('fetches one token for all waiting requests', async () => {
    const waiting: (() => void)[] = [];
    const { get, tokenRequests } = await setUp({
      endpoint: (_request, response) => {
        waiting.push(() => response.end('{"access_token":"shared"}'));
        return true;
      },
    });
    const impatient = new AbortController();
    const leaving = get('/0', { signal: impatient.signal });
    const all = [get('/1'), get('/2'), get('/3')];
    while (waiting.length === 0) await settled();
    impatient.abort('enough');
    await expect(leaving).rejects.toBe('enough');
    waiting[0]?.();
    await expect(Promise.all(all)).resolves.toEqual(Array(3).fill('Bearer shared'));
    expect(tokenRequests).toHaveLength(1);
  });

  it('ignores a failed fetch when no request waits for it, and fetches again', async () => {
    const waiting: ServerResponse[] = [];
    const { get, clock } = await setUp({
      endpoint: (_request, response) => waiting.length === 0 && waiting.push(response) === 1,
    });
    const impatient = new AbortController();
    const leaving = get('/0', { signal: impatient.signal });
    while (waiting.length === 0) await settled();
    impatient.abort('enough');
    await expect(leaving).rejects.toBe('enough');
    waiting[0]?.destroy();
    while (waiting[0]?.closed === false) await settled();
    for (let iteration = 0; iteration < 10; iteration += 1) await settled();
    clock.nowMs += 1000;
    expect(await get()).toBe('Bearer token-1');
  });

  it.each([
    ['ten seconds', 3600, 3_590_000],
    ['a tenth of its life', '50', 45_000],
    ['no sooner than after ten seconds, if not', 0.001, 10_000],
  ])(
    'renews a token %s before it expires, whatever happens to the wall clock',
    async (_margin, expiresIn, usableMs) => {
      const { get, clock } = await setUp({ expiresIn });
      await get();
      clock.nowMs += usableMs - 1;
      expect(await get()).toBe('Bearer token-1');
      clock.nowMs += 1;
      expect(await get()).toBe('Bearer token-2');
    },
  );

  it.each([undefined, 'soon', -1])('keeps a token with expires_in %j until a 401', async (expiresIn) => {
    let accepted = 'Bearer token-1';
    const { get, clock, tokenRequests } = await setUp({
      expiresIn,
      service: (request, response) =>
        response.writeHead(request.headers.authorization === accepted ? 200 : 401).end('{}'),
    });
    await get();
    clock.nowMs += 1e12;
    await get();
    expect(tokenRequests).toHaveLength(1);
    accepted = 'Bearer token-2';
    await get();
    expect(tokenRequests).toHaveLength(2);
  });

  it.each([
    { what: 'a 400', status: 400, body: REPEATED, attempts: 2 },
    { what: 'a redirect', status: 302, body: REPEATED, attempts: 1 },
    { what: 'no object', status: 200, body: 'null', attempts: 1 },
    { what: 'an empty token', status: 200, body: '{"access_token":""}', attempts: 1 },
    {
      what: 'a reply that is too large',
      status: 200,
      body: `{"access_token":"${'x'.repeat(2_000_000)}"}`,
      attempts: 1,
    },
  ])('fails on $what of the endpoint, without a retry and without the secret', async ({ status, body, attempts }) => {
    const endpoint = refuse(status, body, { Location: '/elsewhere' });
    const { failure, observer, tokenUrl, tokenRequests } = await setUp({ endpoint, maxRetries: 3 });
    const error = await failure();
    const message = expect.stringMatching(`^token endpoint ${tokenUrl.host}`);
    expect(error).toMatchObject({ reason: 'auth', message, status: undefined });
    expect(error.message).not.toContain('s3cr3t');
    expect(tokenRequests).toHaveLength(attempts);
    expect(observer).toMatchObject({ outcomes: [], retries: 0 });
  });

  it('does not show a reply of the service that repeats the client secret', async () => {
    const { failure } = await setUp({ service: replying('client s3cr3t', 403) });
    expect((await failure()).message).toMatch(/: not shown, because it repeats/);
  });

  describe('when no token is issued', () => {
    it('makes one request for all stations, and the next one after a growing pause', async () => {
      const { clock, get, tokenRequests } = await setUp({ endpoint: refuse(401) });
      /** All stations of an account, at the same time. */
      const refreshAll = () =>
        Promise.all(Array.from({ length: 100 }, (_, station) => get(`/${station}`).catch((error) => error.reason)));
      for (const pause of PAUSES) {
        const before = tokenRequests.length;
        expect(await refreshAll()).toEqual(Array(100).fill('auth'));
        clock.nowMs += pause * 1000 - 1;
        expect(await refreshAll()).toEqual(Array(100).fill('auth'));
        // At first both ways to send the secret, then one in turn.
        expect(tokenRequests.length - before, `${pause}`).toBe(before === 0 ? 2 : 1);
        clock.nowMs += 1;
      }
      const styles = tokenRequests
        .slice(0, 5)
        .map(({ authorization }) => (authorization === undefined ? 'body' : 'header'));
      expect(styles).toEqual(['header', 'body', 'header', 'body', 'header']);
    });

    it('makes a request at once when the credential file changes', async () => {
      const file = temporaryFile('secret', 'wrong');
      const pair = `Basic ${Buffer.from('client:right').toString('base64')}`;
      const { get, failure, clock } = await setUp({
        endpoint: (request, response) => request.authorization !== pair && refuse(401)(request, response),
        auth: { client_secret_file: file },
      });
      for (const pauseMs of [0, 1000, 2000, 4000]) {
        clock.nowMs += pauseMs;
        expect(await failure()).toMatchObject({ reason: 'auth' });
      }
      writeFileSync(file, 'right');
      clock.nowMs += 1000;
      expect(await get()).toBe('Bearer token-1');
    });

    it.each([
      ['30 seconds while the endpoint is unavailable', 503, {}, 30],
      ['what Retry-After says', 429, { 'Retry-After': '120' }, 120],
    ])('pauses for at most %s', async (_limit, status, headers, seconds) => {
      const { failure, clock, tokenRequests } = await setUp({ endpoint: refuse(status, '', headers) });
      for (let attempt = 0; attempt < 10; attempt += 1) {
        await failure();
        clock.nowMs += seconds * 1000;
      }
      expect(tokenRequests).toHaveLength(10);
      await failure();
      clock.nowMs += seconds * 1000 - 1;
      await failure();
      expect(tokenRequests).toHaveLength(11);
    });

    it('retries after the pause', async () => {
      let failures = 0;
      const { get, sleeps } = await setUp({
        endpoint: (request, response) => {
          failures += 1;
          return failures <= 2 && refuse(500)(request, response);
        },
        maxRetries: 2,
        // Delays pass at once.
        time: { clock: undefined, random: () => 0 },
      });
      expect(await get()).toBe('Bearer token-1');
      expect(sleeps).toEqual([500, 2500]);
    });
  });

  it('uses a token to the end of its life while the endpoint fails', async () => {
    let isDown = false;
    const { get, failure, clock, tokenRequests } = await setUp({
      endpoint: (request, response) => isDown && refuse(503)(request, response),
      expiresIn: 100,
    });
    await get();
    isDown = true;
    clock.nowMs += 90_000;
    expect(await get()).toBe('Bearer token-1');
    expect(await get()).toBe('Bearer token-1');
    expect(tokenRequests).toHaveLength(2);
    clock.nowMs += 9_999;
    expect(await get()).toBe('Bearer token-1');
    clock.nowMs += 1;
    expect(await failure()).toMatchObject({ reason: 'auth', message: expect.stringContaining('answered 503') });
  });

  it('does not use a token that the service rejected while the endpoint fails', async () => {
    let isDown = false;
    const { get, failure } = await setUp({
      endpoint: (request, response) => isDown && refuse(503)(request, response),
      service: (_request, response) => response.writeHead(isDown ? 401 : 200).end('{}'),
      expiresIn: 3600,
    });
    await get();
    isDown = true;
    for (const message of ['the 401', 'the pause after it'])
      expect(await failure(), message).toMatchObject({ message: expect.stringMatching(/^token endpoint .* 503/) });
  });

  it('does not replace a token because of a late 401 for the one before', async () => {
    const late: ServerResponse[] = [];
    const { get, clock, tokenRequests } = await setUp({
      service: ({ headers, url }, response) => {
        if (url === '/late' && late.length === 0) late.push(response);
        else response.end(headers.authorization);
      },
      expiresIn: 3600,
    });
    const rejected = get('/late');
    while (late.length === 0) await settled();
    clock.nowMs += 3_590_000;
    expect(await get()).toBe('Bearer token-2');
    clock.nowMs += 60_000;
    late[0]?.writeHead(401).end();
    expect(await rejected).toBe('Bearer token-2');
    expect(tokenRequests).toHaveLength(2);
  });

  it('replaces a rejected token at once, however often the endpoint failed before it was issued', async () => {
    const isDown = () => tokenRequests.length <= 6;
    let accepted = 'Bearer token-1';
    const { get, clock, tokenRequests } = await setUp({
      endpoint: (request, response) => isDown() && refuse(503)(request, response),
      service: ({ headers }, response) => response.writeHead(headers.authorization === accepted ? 200 : 401).end('{}'),
    });
    while (isDown()) {
      await get().catch(() => undefined);
      clock.nowMs += 30_000;
    }
    accepted = 'Bearer token-2';
    expect(await get()).toBe('{}');
    expect(tokenRequests).toHaveLength(8);
  });

  it('sends the query of token_url', async () => {
    const endpoint = await startService(replying('{"access_token":"t"}'));
    const auth = oauth2(new URL('/token?tenant=a%20b', endpoint.url));
    await (await servedClient(replying('{}'), { auth })).get();
    expect(endpoint.requests[0]?.url).toBe('/token?tenant=a%20b');
  });

  it('replaces a token once for requests that are rejected at the same time', async () => {
    const rejected: (() => void)[] = [];
    const { get, tokenRequests } = await setUp({
      service: (request, response) => {
        if (request.headers.authorization === 'Bearer token-1') rejected.push(() => response.writeHead(401).end());
        else response.end('welcome');
      },
    });
    const both = [get('/1'), get('/2')];
    while (rejected.length < 2) await settled();
    rejected[0]?.();
    await both[0];
    rejected[1]?.();
    await expect(Promise.all(both)).resolves.toEqual(['welcome', 'welcome']);
    expect(tokenRequests).toHaveLength(2);
  });

  it('replaces tokens that the service rejects one after the other at growing intervals', async () => {
    const { failure, clock, tokenRequests } = await setUp({ service: replying('{}', 401), expiresIn: 3600 });
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(tokenRequests).toHaveLength(2);
    for (const pause of PAUSES) {
      const before = tokenRequests.length;
      clock.nowMs += pause * 1000 - 1;
      expect(await failure()).toMatchObject({ reason: 'auth' });
      expect(tokenRequests.length - before, `${pause}`).toBe(0);
      clock.nowMs += 1;
      expect(await failure()).toMatchObject({ reason: 'auth' });
      expect(tokenRequests.length - before, `${pause}`).toBe(1);
    }
  });
});
