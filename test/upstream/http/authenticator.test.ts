import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { AuthOptions } from '../../../src/model/upstream-options.ts';
import { testClient } from '../support/client.ts';
import { settled } from '../support/clock.ts';
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

const bearer = (file: string): AuthOptions => ({ scheme: 'authorization', type: 'Bearer', credentials: { file } });

describe('Authenticator', () => {
  it('sends an authorization of any type', async () => {
    const service = await startService(demand('authorization', 'Token abc'));
    const auth = { scheme: 'authorization', type: 'Token', credentials: { text: 'abc' } } as const;
    await expect(testClient(service.url, { auth }).get()).resolves.toBe('welcome');
  });

  it('sends a user name and password', async () => {
    const service = await startService(demand('authorization', `Basic ${Buffer.from('üser:p:w').toString('base64')}`));
    const auth = { scheme: 'basic', username: 'üser', password: { text: 'p:w' } } as const;
    await expect(testClient(service.url, { auth }).get()).resolves.toBe('welcome');
  });

  it('prefers the header of the scheme over a configured one of the same name', async () => {
    const service = await startService(demand('authorization', 'Token abc'));
    const auth = { scheme: 'authorization', type: 'Token', credentials: { text: 'abc' } } as const;
    const headers = [{ name: 'authorization', value: { text: 'other' } }];
    await expect(testClient(service.url, { auth, headers }).get()).resolves.toBe('welcome');
  });

  it('reads a token file again after a 401 and retries once, in addition to max_retries', async () => {
    const service = await startService(demand('authorization', 'Bearer new'));
    const file = temporaryFile('token', 'new\n');
    const { get, observer, sleeps } = testClient(service.url, { auth: bearer(file), maxRetries: 0 }, { now: () => 0 });
    await get();
    writeFileSync(file, 'old\n');
    const stale = testClient(service.url, { auth: bearer(file), maxRetries: 0 }, { now: () => 0 });
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
    const auth = { scheme: 'authorization', type: 'Bearer', credentials: { text: 'fixed' } } as const;
    expect(await testClient(service.url, { auth, maxRetries: 3 }).failure()).toMatchObject({ reason: 'auth' });
    expect(service.requests).toHaveLength(1);
  });

  it('fails with reason auth without a request when a file cannot be read', async () => {
    const service = await startService(demand('authorization', 'Bearer x'));
    const file = temporaryFile('token', 'x');
    rmSync(file);
    const { failure, observer } = testClient(service.url, { auth: bearer(file), maxRetries: 3 });
    expect(await failure()).toMatchObject({ reason: 'auth', message: expect.stringContaining(file) });
    expect(observer).toMatchObject({ started_: 0, retries: 0, waitingNow: 0 });
  });

  it('fails with reason auth, without the value, when a credential is not a valid header value', async () => {
    const service = await startService(demand('authorization', 'Bearer x'));
    const auth = { scheme: 'authorization', type: 'Bearer', credentials: { text: 'hidden\r\nX-Evil: 1' } } as const;
    const error = await testClient(service.url, { auth }).failure();
    expect(error).toMatchObject({ reason: 'auth', message: expect.stringContaining('header Authorization') });
    expect(String(error)).not.toContain('hidden');
    expect(service.requests).toEqual([]);
  });

  it.each<[string, AuthOptions]>([
    ['authorization', { scheme: 'authorization', type: 'Bearer', credentials: { text: 's3cr3t' } }],
    ['basic', { scheme: 'basic', username: 'u', password: { text: 's3cr3t' } }],
    ['hmac', { scheme: 'hmac', accessKeyId: 'AK', secretAccessKey: { text: 's3cr3t' }, signedHeaders: ['x-date'] }],
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
    const auth = {
      scheme: 'hmac',
      accessKeyId: 'AK',
      secretAccessKey: { text: 's3cr3t' },
      signedHeaders: ['x-date'],
    } as const;
    const late = { now: () => Date.now() - 3_600_000 };
    expect((await testClient(service.url, { auth }, late).failure()).message).toMatch(
      /; the local clock is \d+ s behind the service's/,
    );
    expect((await testClient(service.url, { auth }).failure()).message).not.toContain('clock');
    const other = { scheme: 'basic', username: 'u', password: { text: 'p' } } as const;
    expect((await testClient(service.url, { auth: other }, late).failure()).message).not.toContain('clock');
  });

  it('renews credentials once for requests rejected at the same time', async () => {
    const file = temporaryFile('token', 'old');
    const held: (() => void)[] = [];
    const accept = demand('authorization', 'Bearer new');
    const service = await startService((request, response) => {
      if (request.headers.authorization === 'Bearer old') held.push(() => accept(request, response));
      else accept(request, response);
    });
    const { get, observer } = testClient(service.url, { auth: bearer(file) }, { now: () => 0 });
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
