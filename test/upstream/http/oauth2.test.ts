import { writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { oauth2, servedClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { startService } from '../support/service.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';

interface TokenRequest {
  readonly authorization: string | undefined;
  readonly form: Record<string, string>;
  readonly message: IncomingMessage;
}

/** A token endpoint that numbers its tokens, unless the test provides the reply. */
async function startTokenEndpoint(
  answer: (request: TokenRequest, response: ServerResponse) => boolean = () => false,
  extra = {},
) {
  const received: TokenRequest[] = [];
  let issued = 0;
  const { url } = await startService(async (message, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(message)));
    const request = { authorization: message.headers.authorization, form, message };
    received.push(request);
    if (answer(request, response)) return;
    issued += 1;
    response.end(JSON.stringify({ access_token: `token-${issued}`, token_type: 'bearer', ...extra }));
  });
  return { url: new URL('/oauth/token?tenant=a', url), received };
}

type Time = NonNullable<Parameters<typeof servedClient>[2]>;

/** A client of a service that repeats the credential it was sent, unless the test provides the reply. */
async function clientOf(
  { url }: { url: URL },
  options: Parameters<typeof servedClient>[1] = {},
  {
    answer = (request, response) => response.end(request.headers.authorization),
    ...time
  }: Time & { answer?: RequestListener } = {},
) {
  const clock = new VirtualClock();
  const overridden = { clock, random: () => 1, ...time };
  return { clock, ...(await servedClient(answer, { auth: oauth2(url), ...options }, overridden)) };
}

/** In seconds. */
const PAUSES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];

/** Requested delays pass at once. */
const AT_ONCE = { clock: undefined, random: () => 0 };

const refuse =
  (status: number, body: unknown, headers = {}) =>
  (_request: TokenRequest, response: ServerResponse) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    return true;
  };

const REPEATED = '{"error":"invalid_client","error_description":"no client has the secret s3cr3t"}';

describe('TokenSource', () => {
  it('fetches a token with the client credentials grant and reuses it', async () => {
    const endpoint = await startTokenEndpoint(undefined, { expires_in: 3600 });
    const auth = oauth2(endpoint.url, {
      client_id: 'a b:ü',
      secret: { text: 'x+y/z=' },
      scopes: ['read', 'list all'],
      endpoint_params: { audience: 'monitor' },
    });
    const headers = [{ name: 'X-Key', value: { text: 'for the service alone' } }];
    const { get, observer } = await clientOf(endpoint, { auth, headers });
    expect(await get()).toBe('Bearer token-1');
    expect(await get()).toBe('Bearer token-1');
    expect(endpoint.received).toHaveLength(1);
    const [request] = endpoint.received;
    expect(request).toMatchObject({
      authorization: `Basic ${Buffer.from('a+b%3A%C3%BC:x%2By%2Fz%3D').toString('base64')}`,
      form: { grant_type: 'client_credentials', scope: 'read list all', audience: 'monitor' },
      message: { method: 'POST', url: '/oauth/token?tenant=a' },
    });
    expect(request?.message.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(request?.message.headers).not.toHaveProperty('x-key');
    expect(observer.started_).toBe(2);
  });

  it.each([400, 401])(
    'sends id and secret in the body after a %i, and keeps the accepted style, also when it fails later',
    async (status) => {
      let isDown = false;
      const endpoint = await startTokenEndpoint(
        (request, response) => (isDown || request.authorization !== undefined) && refuse(status, '')(request, response),
        { expires_in: 20 },
      );
      const { get, failure, clock } = await clientOf(endpoint);
      await get();
      clock.nowMs += 20_000;
      await get();
      clock.nowMs += 20_000;
      isDown = true;
      expect(await failure()).toMatchObject({ reason: 'auth' });
      const inBody = { grant_type: 'client_credentials', client_id: 'client', client_secret: 's3cr3t' };
      expect(endpoint.received.map(({ form }) => form)).toEqual([
        { grant_type: 'client_credentials' },
        ...[inBody, inBody, inBody],
      ]);
    },
  );

  it('fetches one token for all waiting requests', async () => {
    const waiting: (() => void)[] = [];
    const endpoint = await startTokenEndpoint((_request, response) => {
      waiting.push(() => response.end('{"access_token":"shared"}'));
      return true;
    });
    const { get } = await clientOf(endpoint);
    const impatient = new AbortController();
    const leaving = get('/0', { signal: impatient.signal });
    const all = [get('/1'), get('/2'), get('/3')];
    while (waiting.length === 0) await settled();
    impatient.abort('enough');
    await expect(leaving).rejects.toBe('enough');
    waiting[0]?.();
    await expect(Promise.all(all)).resolves.toEqual(Array(3).fill('Bearer shared'));
    expect(endpoint.received).toHaveLength(1);
  });

  it('ignores a failed fetch when no request waits for it, and fetches again', async () => {
    const waiting: ServerResponse[] = [];
    const endpoint = await startTokenEndpoint(
      (_request, response) => waiting.length === 0 && waiting.push(response) === 1,
    );
    const { get } = await clientOf(endpoint, { maxRetries: 1 }, AT_ONCE);
    const impatient = new AbortController();
    const leaving = get('/0', { signal: impatient.signal });
    while (waiting.length === 0) await settled();
    impatient.abort('enough');
    await expect(leaving).rejects.toBe('enough');
    waiting[0]?.destroy();
    while (waiting[0]?.closed === false) await settled();
    for (let iteration = 0; iteration < 10; iteration += 1) await settled();
    expect(await get()).toBe('Bearer token-1');
  });

  it.each([
    ['ten seconds', 3600, 3_590_000],
    ['a tenth of its life', '50', 45_000],
    ['no sooner than after ten seconds, if not', 0.001, 10_000],
  ])(
    'renews a token %s before it expires, whatever happens to the wall clock',
    async (_margin, expiresIn, usableMs) => {
      const clock = new VirtualClock();
      const endpoint = await startTokenEndpoint(undefined, { expires_in: expiresIn });
      const { get } = await clientOf(endpoint, {}, { clock, wallNow: () => 1e12 - 2 * clock.nowMs });
      await get();
      clock.nowMs += usableMs - 1;
      expect(await get()).toBe('Bearer token-1');
      clock.nowMs += 1;
      expect(await get()).toBe('Bearer token-2');
    },
  );

  it.each([undefined, 'soon', -1])('keeps a token with expires_in %j until a 401', async (expiresIn) => {
    const endpoint = await startTokenEndpoint(undefined, { expires_in: expiresIn });
    let accepted = 'Bearer token-1';
    const answer: RequestListener = (request, response) =>
      response.writeHead(request.headers.authorization === accepted ? 200 : 401).end('{}');
    const { get, failure, clock } = await clientOf(endpoint, {}, { answer });
    await get();
    clock.nowMs += 1e12;
    await get();
    expect(endpoint.received).toHaveLength(1);
    accepted = 'Bearer token-2';
    await get();
    expect(endpoint.received).toHaveLength(2);
    clock.nowMs += 1000;
    accepted = 'none';
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(endpoint.received).toHaveLength(3);
  });

  it.each([
    { what: 'a 400', status: 400, body: REPEATED, reason: 'auth', attempts: 2 },
    { what: 'a redirect', status: 302, body: REPEATED, reason: 'status', attempts: 1 },
    { what: 'no object', status: 200, body: 'null', reason: 'body', attempts: 1 },
    { what: 'an empty token', status: 200, body: '{"access_token":""}', reason: 'body', attempts: 1 },
    {
      what: 'a reply that is too large',
      status: 200,
      body: `{"access_token":"${'x'.repeat(2_000_000)}"}`,
      reason: 'body',
      attempts: 1,
    },
  ])(
    'fails on $what of the endpoint, without a retry and without the secret',
    async ({ status, body, reason, attempts }) => {
      const endpoint = await startTokenEndpoint(refuse(status, body, { Location: '/elsewhere' }));
      const { failure, observer } = await clientOf(endpoint, { maxRetries: 3 });
      const error = await failure();
      expect(error).toMatchObject({ reason, message: expect.stringMatching(`^token endpoint ${endpoint.url.host}`) });
      expect(error.message).not.toContain('s3cr3t');
      expect(endpoint.received).toHaveLength(attempts);
      expect(observer).toMatchObject({ started_: 0, retries: 0 });
    },
  );

  it('does not show a reply of the service that repeats the client secret', async () => {
    const endpoint = await startTokenEndpoint();
    const answer: RequestListener = (_request, response) => response.writeHead(403).end('client s3cr3t');
    const { failure } = await clientOf(endpoint, {}, { answer });
    expect((await failure()).message).toMatch(/: not shown, because it repeats/);
  });

  describe('when no token is issued', () => {
    it('makes one request for all stations, and the next one after a growing pause', async () => {
      const endpoint = await startTokenEndpoint(refuse(401, { error: 'invalid_client' }));
      const { clock, get } = await clientOf(endpoint);
      /** All stations of an account, at the same time. */
      const refreshAll = () =>
        Promise.all(Array.from({ length: 100 }, (_, station) => get(`/${station}`).catch((error) => error.reason)));
      for (const pause of PAUSES) {
        const before = endpoint.received.length;
        expect(await refreshAll()).toEqual(Array(100).fill('auth'));
        clock.nowMs += pause * 1000 - 1;
        expect(await refreshAll()).toEqual(Array(100).fill('auth'));
        // At first both ways to send the secret, then one in turn.
        expect(endpoint.received.length - before, `${pause}`).toBe(before === 0 ? 2 : 1);
        clock.nowMs += 1;
      }
      const styles = endpoint.received
        .slice(0, 5)
        .map(({ authorization }) => (authorization === undefined ? 'body' : 'header'));
      expect(styles).toEqual(['header', 'body', 'header', 'body', 'header']);
    });

    it('makes a request at once when the credential file changes', async () => {
      const file = temporaryFile('secret', 'wrong');
      const endpoint = await startTokenEndpoint((request, response) => {
        const pair = `Basic ${Buffer.from('client:right').toString('base64')}`;
        return request.authorization !== pair && refuse(401, '')(request, response);
      });
      const auth = oauth2(endpoint.url, { secret: { file } });
      const { get, failure, clock } = await clientOf(endpoint, { auth });
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
      const endpoint = await startTokenEndpoint(refuse(status, '', headers));
      const { failure, clock } = await clientOf(endpoint);
      for (let attempt = 0; attempt < 10; attempt += 1) {
        await failure();
        clock.nowMs += seconds * 1000;
      }
      expect(endpoint.received).toHaveLength(10);
      await failure();
      clock.nowMs += seconds * 1000 - 1;
      await failure();
      expect(endpoint.received).toHaveLength(11);
    });

    it('retries after the pause', async () => {
      let failures = 0;
      const endpoint = await startTokenEndpoint((request, response) => {
        failures += 1;
        return failures <= 2 && refuse(500, '')(request, response);
      });
      const { get, sleeps } = await clientOf(endpoint, { maxRetries: 2 }, AT_ONCE);
      expect(await get()).toBe('Bearer token-1');
      expect(sleeps).toEqual([500, 1000]);
      expect(endpoint.received).toHaveLength(3);
    });
  });

  it('replaces tokens that the service rejects one after the other at growing intervals', async () => {
    const endpoint = await startTokenEndpoint(undefined, { expires_in: 3600 });
    const answer: RequestListener = (_request, response) => response.writeHead(401).end('{}');
    const { failure, clock } = await clientOf(endpoint, {}, { answer });
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(endpoint.received).toHaveLength(2);
    for (const pause of PAUSES) {
      const before = endpoint.received.length;
      clock.nowMs += pause * 1000 - 1;
      expect(await failure()).toMatchObject({ reason: 'auth' });
      expect(endpoint.received.length - before, `${pause}`).toBe(0);
      clock.nowMs += 1;
      expect(await failure()).toMatchObject({ reason: 'auth' });
      expect(endpoint.received.length - before, `${pause}`).toBe(1);
    }
  });
});
