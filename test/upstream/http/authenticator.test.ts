import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type AuthOptions, SIGNED_HEADERS, type SignedHeader } from '../../../src/model/upstream-options.ts';
import { Credential, clockHint, hmacSigner } from '../../../src/upstream/http/authenticator.ts';
import { bearer, testClient } from '../support/client.ts';
import { ManualClock, settled } from '../support/clock.ts';
import { temporaryFile } from '../support/files.ts';
import { startService } from '../support/service.ts';

/** Accepts one value of the header; otherwise answers 401 with the value received. */
function demand(header: string, value: string) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const given = request.headers[header];
    if (given === value) response.end('welcome');
    else response.writeHead(401).end(JSON.stringify({ message: `I do not know ${given}` }));
  };
}

const NOT_SHOWN = /: not shown, because it repeats a secret or a part of one$/;

const HMAC = {
  scheme: 'hmac',
  accessKeyId: 'AK',
  secretAccessKey: { text: 's3cr3t' },
  signedHeaders: ['x-date'],
} as const;

describe('Authenticator', () => {
  it('sends a user name and password', async () => {
    const service = await startService(demand('authorization', `Basic ${Buffer.from('üser:p:w').toString('base64')}`));
    const auth = { scheme: 'basic', username: 'üser', password: { text: 'p:w' } } as const;
    await expect(testClient(service.url, { auth }).get()).resolves.toBe('welcome');
  });

  it('sends an authorization of any type, rather than a configured header of the same name', async () => {
    const service = await startService(demand('authorization', 'Token abc'));
    const auth = { scheme: 'authorization', type: 'Token', credentials: { text: 'abc' } } as const;
    const headers = [{ name: 'authorization', value: { text: 'other' } }];
    await expect(testClient(service.url, { auth, headers }).get()).resolves.toBe('welcome');
  });

  it('reads a token file again after a 401 and retries once, in addition to max_retries', async () => {
    const service = await startService(demand('authorization', 'Bearer new'));
    const file = temporaryFile('token', 'new\n');
    const { get, observer, sleeps } = testClient(
      service.url,
      { auth: bearer({ file }), maxRetries: 0 },
      { now: () => 0 },
    );
    await get();
    writeFileSync(file, 'old\n');
    const stale = testClient(service.url, { auth: bearer({ file }), maxRetries: 0 }, { now: () => 0 });
    const rotated = service.requests.length;
    expect(await stale.failure()).toMatchObject({ reason: 'auth' });
    expect(service.requests.length - rotated).toBe(2);
    writeFileSync(file, 'new\n');
    await expect(stale.get()).resolves.toBe('welcome');
    expect(stale.observer).toMatchObject({ outcomes: ['auth', 'auth', 'auth', undefined], retries: 2 });
    expect([observer.retries, sleeps, stale.sleeps]).toEqual([0, [], []]);
  });

  it('reads the file of a configured header again after a 401', async () => {
    const service = await startService(demand('x-token', 'new'));
    const file = temporaryFile('token', 'old');
    const { get, failure } = testClient(
      service.url,
      { headers: [{ name: 'X-Token', value: { file } }] },
      { now: () => 0 },
    );
    await failure();
    writeFileSync(file, 'new');
    await expect(get()).resolves.toBe('welcome');
  });

  it('does not retry a 401 when no credential can change', async () => {
    const service = await startService(demand('authorization', 'Bearer other'));
    const auth = bearer({ text: 'fixed' });
    expect(await testClient(service.url, { auth, maxRetries: 3 }).failure()).toMatchObject({ reason: 'auth' });
    expect(service.requests).toHaveLength(1);
  });

  it('fails with reason auth without a request when a file cannot be read', async () => {
    const service = await startService(demand('authorization', 'Bearer x'));
    const file = temporaryFile('token', 'x');
    rmSync(file);
    const { failure, observer } = testClient(service.url, { auth: bearer({ file }), maxRetries: 3 });
    const message = expect.stringMatching(new RegExp(`cannot read credential file ${file}: ENOENT`));
    expect(await failure()).toMatchObject({ reason: 'auth', message });
    expect(observer).toMatchObject({ started_: 0, retries: 0, waitingNow: 0 });
  });

  it.each(['hidden\r\nX-Evil: 1', 'hidden\nb', 'hidden\0b', 'hidden\u007fb'])(
    'fails with reason auth, without the value, for the credential %j, which is not a valid header value',
    async (text) => {
      const service = await startService(demand('authorization', 'Bearer x'));
      const auth = bearer({ text });
      const message = 'invalid value of header Authorization: expected no line breaks or other control characters';
      expect(await testClient(service.url, { auth }).failure()).toMatchObject({ reason: 'auth', message });
      expect(service.requests).toEqual([]);
    },
  );

  it('sends other scripts as UTF-8, and all values of a header', async () => {
    const sent = Buffer.from('存储\t~"').toString('latin1');
    const service = await startService(demand('x-tenant', `${sent}, b`));
    const headers = ['存储\t~"', 'b'].map((value) => ({ name: 'X-Tenant', value }));
    await expect(testClient(service.url, { headers }).get()).resolves.toBe('welcome');
  });

  it.each<[string, AuthOptions]>([
    ['authorization', bearer({ text: 's3cr3t' })],
    ['basic', { scheme: 'basic', username: 'u', password: { text: 's3cr3t' } }],
    ['hmac', HMAC],
  ])('does not show a reply that repeats the credentials of %s', async (_scheme, auth) => {
    const service = await startService(demand('authorization', 'other'));
    const headers = [{ name: 'X-Key', value: { text: 'tenant-key' } }];
    const error = await testClient(service.url, { auth, headers }).failure();
    const sent = service.requests[0]?.headers.authorization ?? '';
    const credential = /(?:signature="|Bearer |Basic )([^"]+)/.exec(sent)?.[1];
    expect(sent).toContain(credential);
    expect(error.message).toMatch(NOT_SHOWN);
    expect(error.message).not.toContain(credential);
  });

  it('does not show a reply that repeats the secret value of a header', async () => {
    const service = await startService((request, response) =>
      response.writeHead(403).end(`tenant ${request.headers['x-tenant']}, key ${request.headers['x-key']}`),
    );
    const tenant = { name: 'X-Tenant', value: 'production' };
    const key = (text: string) => ({ name: 'X-Key', value: { text } });
    const message = async (text: string) =>
      (await testClient(service.url, { headers: [tenant, key(text)] }).failure()).message;
    expect(await message('key-1234')).toMatch(NOT_SHOWN);
    expect(await message('ab')).toMatch(/: tenant production, key ab$/);
  });

  it('reports a clock difference when a signature is rejected', async () => {
    const service = await startService(demand('authorization', 'other'));
    const late = { now: () => Date.now() - 3_600_000 };
    const messageOf = async (auth: AuthOptions, time = {}) =>
      (await testClient(service.url, { auth }, time).failure()).message;
    expect(await messageOf(HMAC, late)).toMatch(/; the local clock is \d+ s behind the service's/);
    expect(await messageOf(HMAC)).not.toContain('clock');
    expect(await messageOf(bearer({ text: 'p' }), late)).not.toContain('clock');
  });

  it('renews credentials once for requests rejected at the same time', async () => {
    const file = temporaryFile('token', 'old');
    const held: (() => void)[] = [];
    const accept = demand('authorization', 'Bearer new');
    const service = await startService((request, response) => {
      if (request.headers.authorization === 'Bearer old') held.push(() => accept(request, response));
      else accept(request, response);
    });
    const { get, observer } = testClient(service.url, { auth: bearer({ file }) }, { now: () => 0 });
    const both = [get('/1'), get('/2')];
    while (held.length < 2) await settled();
    writeFileSync(file, 'new');
    held[0]?.();
    await both[0];
    // A second renewal would read this.
    writeFileSync(file, 'newer');
    held[1]?.();
    await expect(Promise.all(both)).resolves.toEqual(['welcome', 'welcome']);
    expect(observer.retries).toBe(2);
  });
});

describe('Credential', () => {
  it('returns the content of a file without surrounding white space', async () => {
    const credential = new Credential({ file: temporaryFile('token', ' a\nb \r\n') }, { elapsedMs: () => 0 });
    await expect(credential.read()).resolves.toBe('a\nb');
  });

  it('reads the file again after a second, not before', async () => {
    const clock = new ManualClock(5000);
    const file = temporaryFile('token', 'old');
    const credential = new Credential({ file }, { elapsedMs: clock.now });
    await credential.read();
    writeFileSync(file, 'new');
    clock.nowMs += 999;
    await expect(credential.read()).resolves.toBe('old');
    clock.nowMs += 1;
    await expect(credential.read()).resolves.toBe('new');
  });

  it('fails with reason auth and names an empty file', async () => {
    const file = temporaryFile('token', '\n');
    await expect(new Credential({ file }, { elapsedMs: () => 0 }).read()).rejects.toMatchObject({
      reason: 'auth',
      message: `credential file ${file} is empty`,
    });
  });
});

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
const SECRET = 'sécret/key+=';

const secret = { read: async () => SECRET };

const REQUEST = {
  method: 'GET',
  host: 'monitor.example.com:8443',
  pathAndQuery: '/monitor/a%20b?page.size=100&product=x%2Fy',
  nowMs: NOW_MS,
  signal: new AbortController().signal,
} as const;

describe('hmacSigner', () => {
  it.each<[SignedHeader[], string, string[]]>([
    [['host', 'date', 'x-date'], `host: monitor.example.com:8443\ndate: ${DATE}\nx-date: ${DATE}`, ['X-Date', 'Date']],
    [['host'], 'host: monitor.example.com:8443', []],
  ])('signs %j in the configured order', async (signedHeaders, lines, dateHeaders) => {
    const signature = createHmac('sha256', Buffer.from(SECRET)).update(Buffer.from(lines)).digest('base64');
    const list = signedHeaders.join(' ');
    await expect(hmacSigner('AK', secret, signedHeaders)(REQUEST)).resolves.toEqual({
      headers: [
        ...dateHeaders.map((name) => [name, DATE]),
        ['Authorization', `hmac accesskey="AK", algorithm="hmac-sha256", headers="${list}", signature="${signature}"`],
      ],
      secrets: [SECRET, signature],
    });
  });

  it('signs the request as it is sent', async () => {
    const service = await startService((_request, response) => response.end('{}'));
    const auth = { ...HMAC, secretAccessKey: { text: SECRET }, signedHeaders: SIGNED_HEADERS };
    await testClient(service.url, { auth }).get("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    const { rawHeaders, headers, method, url } = service.requests[0] ?? {};
    const lines = [
      `x-date: ${headers?.['x-date']}`,
      `date: ${headers?.date}`,
      `host: ${headers?.host}`,
      `${method} ${url} HTTP/1.1`,
      `@request-target: ${method?.toLowerCase()} ${url}`,
    ];
    const signature = createHmac('sha256', SECRET).update(lines.join('\n')).digest('base64');
    expect(url).toBe("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    expect(headers?.authorization).toBe(
      `hmac accesskey="AK", algorithm="hmac-sha256", headers="x-date date host request-line @request-target", signature="${signature}"`,
    );
    expect(rawHeaders).toEqual(expect.arrayContaining(['X-Date', 'Date', 'Authorization']));
  });
});

describe('clockHint', () => {
  it('is undefined for a difference of up to a minute and without a date', () => {
    expect(clockHint(DATE, NOW_MS - 678 + 60_000)).toBeUndefined();
    expect(clockHint(undefined, NOW_MS)).toBeUndefined();
    expect(clockHint('yesterday', NOW_MS)).toBeUndefined();
  });
});
