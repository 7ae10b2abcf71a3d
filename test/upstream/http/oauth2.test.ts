import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { oauth2, type TestClient, testClient } from '../support/client.ts';
import { ManualClock, settled } from '../support/clock.ts';
import { temporaryFile } from '../support/files.ts';
import { closedPort, startRawService, startService } from '../support/service.ts';

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

/** A service that repeats the credential it was sent. */
const startEcho = () => startService((request, response) => response.end(request.headers.authorization));

const clientOf = async (
  { url }: { url: URL },
  options: Parameters<typeof testClient>[1] = {},
  time: Parameters<typeof testClient>[2] = {},
) => testClient((await startEcho()).url, { auth: oauth2(url), ...options }, time);

const refuse =
  (status: number, body: unknown, headers = {}) =>
  (_request: TokenRequest, response: ServerResponse) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    return true;
  };

describe('TokenSource', () => {
  it('fetches a token with the client credentials grant and reuses it', async () => {
    const endpoint = await startTokenEndpoint(undefined, { expires_in: 3600 });
    const service = await startEcho();
    const auth = oauth2(endpoint.url, {
      clientId: 'a b:ü',
      clientSecret: { text: 'x+y/z=' },
      scopes: ['read', 'list all'],
      endpointParams: { audience: 'monitor' },
    });
    const headers = [{ name: 'X-Key', value: { text: 'for the service alone' } }];
    const { get, observer } = testClient(service.url, { auth, headers });
    await expect(get()).resolves.toBe('Bearer token-1');
    await expect(get()).resolves.toBe('Bearer token-1');
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
    'sends id and secret in the body after a %i, and remembers the accepted style',
    async (status) => {
      const clock = new ManualClock();
      const endpoint = await startTokenEndpoint(
        (request, response) => request.authorization !== undefined && refuse(status, '')(request, response),
        { expires_in: 20 },
      );
      const { get } = await clientOf(endpoint, {}, { now: clock.now });
      await get();
      clock.nowMs += 20_000;
      await get();
      const inBody = { grant_type: 'client_credentials', client_id: 'client', client_secret: 's3cr3t' };
      expect(endpoint.received.map(({ form }) => form)).toEqual([{ grant_type: 'client_credentials' }, inBody, inBody]);
    },
  );

  it('keeps an accepted style when it fails later', async () => {
    const clock = new ManualClock();
    let down = false;
    const endpoint = await startTokenEndpoint(
      (request, response) => down && refuse(401, { error: 'invalid_client' })(request, response),
      { expires_in: 20 },
    );
    const { get, failure } = await clientOf(endpoint, {}, { now: clock.now });
    await get();
    clock.nowMs += 20_000;
    down = true;
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(endpoint.received.map(({ authorization }) => authorization !== undefined)).toEqual([true, true]);
  });

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
    const { get } = await clientOf(endpoint, { maxRetries: 1 });
    const impatient = new AbortController();
    const leaving = get('/0', { signal: impatient.signal });
    while (waiting.length === 0) await settled();
    impatient.abort('enough');
    await expect(leaving).rejects.toBe('enough');
    waiting[0]?.destroy();
    while (waiting[0]?.closed === false) await settled();
    for (let iteration = 0; iteration < 10; iteration += 1) await settled();
    await expect(get()).resolves.toBe('Bearer token-1');
  });

  it.each([
    ['ten seconds', 3600, 3_590_000],
    ['a tenth of its life', '50', 45_000],
    ['no sooner than after ten seconds, if not', 0.001, 10_000],
  ])(
    'renews a token %s before it expires, whatever happens to the wall clock',
    async (_margin, expiresIn, usableMs) => {
      const clock = new ManualClock(1000);
      const endpoint = await startTokenEndpoint(undefined, { expires_in: expiresIn });
      const { get } = await clientOf(endpoint, {}, { now: clock.now, wallNow: () => 1e12 - 2 * clock.nowMs });
      await get();
      clock.nowMs += usableMs - 1;
      await expect(get()).resolves.toBe('Bearer token-1');
      clock.nowMs += 1;
      await expect(get()).resolves.toBe('Bearer token-2');
    },
  );

  it.each([undefined, null, 'soon', '', 0, -1, '-1'])(
    'keeps a token with expires_in %j until a 401',
    async (expiresIn) => {
      const clock = new ManualClock();
      const endpoint = await startTokenEndpoint(undefined, { expires_in: expiresIn });
      let accepted = 'Bearer token-1';
      const service = await startService((request, response) =>
        response.writeHead(request.headers.authorization === accepted ? 200 : 401).end('{}'),
      );
      const { get, failure } = testClient(service.url, { auth: oauth2(endpoint.url) }, { now: clock.now });
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
    },
  );

  it.each([400, 401])('fails with reason auth when the endpoint answers %i, without the secret', async (status) => {
    const answer = refuse(status, { error: 'invalid_client', error_description: 'no client has the secret s3cr3t' });
    const endpoint = await startTokenEndpoint(answer);
    const { failure, observer } = await clientOf(endpoint, { maxRetries: 3 });
    expect(await failure()).toMatchObject({
      reason: 'auth',
      message: expect.stringMatching(
        new RegExp(
          `^token endpoint ${endpoint.url.host} answered ${status} .*: not shown, because it repeats a secret or a part of one$`,
        ),
      ),
    });
    expect(endpoint.received).toHaveLength(2);
    expect(observer).toMatchObject({ started_: 0, retries: 0 });
  });

  it.each([
    [302, 'status'],
    [403, 'forbidden'],
    [404, 'not_found'],
  ])('fails with the reason of the status when the endpoint answers %i', async (status, reason) => {
    const endpoint = await startTokenEndpoint(refuse(status, '', { Location: '/elsewhere' }));
    const { failure } = await clientOf(endpoint, { maxRetries: 3 });
    expect(await failure()).toMatchObject({ reason });
    expect(endpoint.received).toHaveLength(1);
  });

  it('fails with reason network or timeout when the endpoint is unreachable', async () => {
    const refusing = await clientOf({ url: new URL(`http://127.0.0.1:${await closedPort()}/token`) });
    expect(await refusing.failure()).toMatchObject({ reason: 'network' });
    const { url: silent } = await startRawService(() => undefined);
    const { failure } = await clientOf({ url: silent }, { timeoutMs: 300 });
    expect(await failure()).toMatchObject({
      reason: 'timeout',
      message: `token endpoint ${silent.host}: no complete reply within 300 ms`,
    });
  });

  it.each([
    ['no JSON', '<html>'],
    ['no object', 'null'],
    ['without a token', '{"token_type":"bearer"}'],
    ['with an empty token', '{"access_token":""}'],
    ['too large', `{"access_token":"${'x'.repeat(2_000_000)}"}`],
  ])('fails with reason body when the reply is %s', async (_what, body) => {
    const endpoint = await startTokenEndpoint(refuse(200, body));
    const { failure } = await clientOf(endpoint);
    expect(await failure()).toMatchObject({ reason: 'body', message: expect.stringMatching(/^token endpoint/) });
  });

  it('does not show a reply of the service that repeats the client secret', async () => {
    const endpoint = await startTokenEndpoint();
    const service = await startService((_request, response) =>
      response.writeHead(403).end('client s3cr3t, audience mine'),
    );
    const auth = oauth2(endpoint.url, { endpointParams: { audience: 'unknown-here' } });
    expect((await testClient(service.url, { auth }).failure()).message).toMatch(/: not shown, because it repeats/);
  });

  describe('when no token is issued', () => {
    /** All stations of an account, at the same time. */
    const refreshAll = ({ get }: TestClient) =>
      Promise.all(Array.from({ length: 100 }, (_, station) => get(`/${station}`).catch((error) => error.reason)));

    it('makes one request for all stations, and the next one after a growing pause', async () => {
      const clock = new ManualClock();
      const endpoint = await startTokenEndpoint(refuse(401, { error: 'invalid_client' }));
      const time = { now: clock.now, sleep: clock.sleep, random: () => 1 };
      const client = await clientOf(endpoint, {}, time);
      for (const pause of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
        const before = endpoint.received.length;
        expect(await refreshAll(client)).toEqual(Array(100).fill('auth'));
        clock.nowMs += pause * 1000 - 1;
        expect(await refreshAll(client)).toEqual(Array(100).fill('auth'));
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
      const clock = new ManualClock();
      const file = temporaryFile('secret', 'wrong');
      const endpoint = await startTokenEndpoint((request, response) => {
        const pair = `Basic ${Buffer.from('client:right').toString('base64')}`;
        return request.authorization !== pair && refuse(401, '')(request, response);
      });
      const auth = oauth2(endpoint.url, { clientSecret: { file } });
      const { get, failure } = testClient((await startEcho()).url, { auth }, { now: clock.now, random: () => 1 });
      for (const pauseMs of [0, 1000, 2000, 4000]) {
        clock.nowMs += pauseMs;
        expect(await failure()).toMatchObject({ reason: 'auth' });
      }
      writeFileSync(file, 'right');
      clock.nowMs += 1000;
      await expect(get()).resolves.toBe('Bearer token-1');
    });

    it('makes a request at once after forgetAuthFailure', async () => {
      let isLocked = true;
      const endpoint = await startTokenEndpoint(
        (request, response) => isLocked && refuse(403, 'locked')(request, response),
      );
      const { client, get, failure } = await clientOf(endpoint);
      await failure();
      isLocked = false;
      expect(await failure()).toMatchObject({ reason: 'forbidden' });
      client.forgetAuthFailure();
      await expect(get()).resolves.toBe('Bearer token-1');
    });

    it.each([
      ['30 seconds while the endpoint is unavailable', 503, {}, 30],
      ['what Retry-After says', 429, { 'Retry-After': '120' }, 120],
      ['ten minutes when Retry-After says more', 503, { 'Retry-After': '86400' }, 600],
    ])('pauses for at most %s', async (_limit, status, headers, seconds) => {
      const clock = new ManualClock();
      const endpoint = await startTokenEndpoint(refuse(status, '', headers));
      const { failure } = await clientOf(endpoint, {}, { now: clock.now, random: () => 1 });
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
      const { get, sleeps } = await clientOf(endpoint, { maxRetries: 2 }, { random: () => 0 });
      await expect(get()).resolves.toBe('Bearer token-1');
      expect(sleeps).toEqual([500, 1000]);
      expect(endpoint.received).toHaveLength(3);
    });
  });

  it('replaces tokens that the service rejects one after the other at growing intervals', async () => {
    const clock = new ManualClock();
    const endpoint = await startTokenEndpoint(undefined, { expires_in: 3600 });
    const service = await startService((_request, response) => response.writeHead(401).end('{}'));
    const { failure } = testClient(service.url, { auth: oauth2(endpoint.url) }, { now: clock.now, random: () => 1 });
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(endpoint.received).toHaveLength(2);
    for (const pause of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
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
