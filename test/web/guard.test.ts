import { describe, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { eventually } from './eventually.ts';
import { RIGHT as HASH, NEW, SLOW, SLOWER } from './hashes.ts';
import { openConnection } from './http-client.ts';
import { plainText, READABLE_PATHS, startApp } from './running-app.ts';

const USERS = new Map([['alice', HASH]]);
const RIGHT = { authorization: `Basic ${Buffer.from('alice:right').toString('base64')}` };
const CHALLENGE = { 'www-authenticate': 'Basic realm="telemetry-station-exporter", charset="UTF-8"' };
const REFUSAL = plainText(401, 'Unauthorized.\n', CHALLENGE);

const PATHS = [...READABLE_PATHS, '/-/reload', '/tse/metrics', '/nowhere'];

function basic(credentials: string | Uint8Array) {
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

describe('guard', () => {
  it.each(PATHS)('tells %s to nobody without a password', async (path) => {
    const externalUrl = new URL('http://example.com/tse');
    const { ask } = await startApp({}, { enableLifecycle: true, externalUrl, access: () => ({ ...OPEN_ACCESS, users: USERS }) });
    const methods = ['GET', 'POST', 'PUT', 'OPTIONS', 'TRACE'];
    for (const method of methods) expect(await ask(path, { method }), method).toEqual(REFUSAL);
    expect(await ask(path, { method: 'HEAD' })).toEqual({ ...REFUSAL, body: '' });
    const status = path === '/nowhere' ? 404 : 200;
    expect((await ask(path, { method: path === '/-/reload' ? 'POST' : 'GET', headers: RIGHT })).status).toBe(status);
  });

  it.each([
    ['a wrong password', basic('alice:wrong')],
    ['no password', basic('alice:')],
    ['no user', basic(':right')],
    ['an unknown user', basic('mallory:right')],
    ['a user with another case', basic('Alice:right')],
    ['no colon', basic('alice')],
    ['an empty header', { authorization: '' }],
    ['another scheme', { authorization: 'Bearer right' }],
    ['broken base64', { authorization: 'Basic *' }],
    ['bytes that are no UTF-8', basic(Buffer.from([0xff, 0xfe, 0x3a, 0xff]))],
    ['a very long password', basic(`alice:${'right'.repeat(1500)}`)],
    ['a zero byte', basic('alice:right\0')],
    ['a key of every object', basic('constructor:right')],
    ['the hash itself', basic(`alice:${HASH}`)],
  ])('refuses %s', async (_what, headers) => {
    const { ask, reported } = await startApp({}, { access: () => ({ ...OPEN_ACCESS, users: USERS }) });
    expect(await ask('/metrics', { headers })).toEqual(REFUSAL);
    expect(reported).toEqual([]);
  });

  it('follows the rules in force, whatever it remembers', async () => {
    let users: ReadonlyMap<string, string> = USERS;
    const { ask } = await startApp({}, { access: () => ({ ...OPEN_ACCESS, users }) });
    const status = async (headers = {}) => (await ask('/metrics', { headers })).status;
    expect(await status(RIGHT)).toBe(200);
    users = new Map([['alice', NEW]]);
    expect(await status(RIGHT)).toBe(401);
    expect(await status(basic('alice:new'))).toBe(200);
    users = new Map([['bob', HASH]]);
    expect(await status(RIGHT)).toBe(401);
    users = new Map();
    expect(await status()).toBe(200);
  });

  it('turns a flood of guesses away while a known password and the rest of the process go on', async () => {
    const users = new Map([['alice', SLOW]]);
    const { ask } = await startApp({}, { access: () => ({ ...OPEN_ACCESS, users }) });
    expect((await ask('/metrics', { headers: RIGHT })).status).toBe(200);
    let ended = false;
    const flood = Promise.all(Array.from({ length: 100 }, (_, index) => ask('/metrics', { headers: basic(`alice:${index}`) }))).finally(
      () => {
        ended = true;
      },
    );
    expect((await ask('/-/healthy', { headers: RIGHT })).status).toBe(200);
    expect(ended).toBe(false);
    const answers = await flood;
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.length - refused.length).toBe(answers.filter(({ status }) => status === 401).length);
    expect(refused[0]).toEqual(plainText(503, 'Too many passwords to check at once.\n', { 'retry-after': '1' }));
  });

  it('keeps no place for a client that went away while its password was checked', async () => {
    const users = new Map([['alice', SLOWER]]);
    let arrived = 0;
    const access = () => {
      arrived += 1;
      return { ...OPEN_ACCESS, users };
    };
    const { port, ask } = await startApp({}, { maxRequests: 1, access });
    const { socket } = openConnection(port, `GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: ${RIGHT.authorization}\r\n\r\n`);
    await eventually(() => expect(arrived).toBe(1));
    socket.destroy();
    expect((await ask('/metrics', { headers: RIGHT })).status).toBe(200);
  });

  it("sets the operator's headers on every answer, in place of the exporter's own", async () => {
    const headers = { 'Content-Security-Policy': "frame-ancestors 'self'", 'X-Frame-Options': 'sameorigin' };
    const { ask } = await startApp({}, { access: () => ({ headers, users: USERS }) });
    for (const path of PATHS) {
      for (const asking of [{}, { headers: RIGHT }]) {
        expect((await ask(path, asking)).headers, path).toMatchObject({
          'content-security-policy': "frame-ancestors 'self'",
          'x-frame-options': 'sameorigin',
          'x-content-type-options': 'nosniff',
        });
      }
    }
  });

  it('answers 429 beyond the rate', async () => {
    const { ask } = await startApp({}, { access: () => ({ ...OPEN_ACCESS, rate: { intervalMs: 3_600_000, burst: 2 } }) });
    expect((await ask('/metrics')).status).toBe(200);
    expect((await ask('/-/healthy')).status).toBe(200);
    expect(await ask('/metrics')).toEqual(plainText(429, 'Too many requests.\n'));
  });
});
