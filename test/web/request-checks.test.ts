import express from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PasswordCheck } from '../../src/web/access/password-check.ts';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import type { WebOptions } from '../../src/web/port.ts';
import { checkAccess, rateLimiter } from '../../src/web/request-checks.ts';
import { failedRequest } from '../../src/web/respond.ts';
import { listen } from '../../src/web/server.ts';
import { eventually } from './eventually.ts';
import { RIGHT as HASH, SLOW } from './hashes.ts';
import { httpRequest, LOOPBACK, openConnection } from './http-client.ts';
import { plainText, READABLE_PATHS, startApp } from './running-app.ts';

describe('createApp', () => {
  it('ignores the body of a request and keeps the connection', async () => {
    const { port } = await startApp({}, { enableLifecycle: true });
    const reload = 'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello';
    const last = 'GET /-/healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const text = await openConnection(port, `${reload}${last}`).received;
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });
});

const USERS = new Map([['alice', HASH]]);
const RIGHT = basic('alice:right');
const CHALLENGE = { 'www-authenticate': 'Basic realm="telemetry-station-exporter", charset="UTF-8"' };
const UNAUTHORIZED = plainText(401, 'Unauthorized.\n', CHALLENGE);

const HEALTH_PATHS = ['/-/healthy', '/-/ready', '/tse/-/healthy', '/tse/-/ready'];
const PATHS = [
  ...READABLE_PATHS.filter((path) => !HEALTH_PATHS.includes(path)),
  ...['/-/reload', '/tse/metrics', '/nowhere', '/-/ready/', '/-/Healthy', '//-/healthy', '/metrics?/-/healthy'],
];

/** An app that requires a password. */
const startLocked = (users = USERS, options: Partial<WebOptions> = {}) =>
  startApp({}, { access: () => ({ ...OPEN_ACCESS, users }), ...options });

function basic(credentials: string | Uint8Array) {
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

describe('checkAccess', () => {
  it.each(PATHS)('responds 401 to %s without a password', async (path) => {
    const externalUrl = new URL('http://example.com/tse');
    const { request } = await startLocked(USERS, { enableLifecycle: true, externalUrl });
    const methods = ['GET', 'POST', 'PUT', 'OPTIONS', 'TRACE'];
    for (const method of methods) expect(await request(path, { method }), method).toEqual(UNAUTHORIZED);
    expect(await request(path, { method: 'HEAD' })).toEqual({ ...UNAUTHORIZED, body: '' });
    const { status } = await request(path, { method: path === '/-/reload' ? 'POST' : 'GET', headers: RIGHT });
    expect([200, 404]).toContain(status);
  });

  it.each(['GET /metrics', 'GET /%zz', 'POST /'])(
    'closes the connection of a client that sends %s and no password, so that it keeps no one out',
    async (line) => {
      const { port } = await startLocked();
      expect(await openConnection(port, `${line} HTTP/1.1\r\nHost: a\r\n\r\n`).received).toMatch(/^HTTP\/1\.1 4/);
    },
  );

  it.each(HEALTH_PATHS)('lets probes of the process read %s without a password, above the rate limit', async (path) => {
    const rules = { ...OPEN_ACCESS, users: USERS, rate: { intervalMs: 3_600_000, burst: 1 } };
    const externalUrl = new URL('http://example.com/tse');
    const { request, limits } = await startApp({}, { externalUrl, access: () => rules });
    expect((await request('/sd')).status).toBe(401);
    expect(await request('/metrics')).toEqual(plainText(429, 'Too many requests.\n'));
    expect(limits).toEqual(['rate_limit']);
    expect((await request(path)).status).toBe(200);
    expect((await request(path, { method: 'POST' })).status).toBe(405);
  });

  it('responds 503 while too many passwords wait for their check', async () => {
    const passwords = new PasswordCheck();
    vi.spyOn(passwords, 'check').mockResolvedValue('busy');
    const limits: string[] = [];
    const options = {
      access: () => ({ ...OPEN_ACCESS, users: USERS }),
      observer: { limitReached: (limit: string) => limits.push(limit) },
    };
    const failed = failedRequest(
      () => undefined,
      () => undefined,
    );
    const server = await listen(express().use(checkAccess(options, new Set(), passwords), failed), [LOOPBACK]);
    onTestFinished(() => server.close(0));
    const refused = await httpRequest(server.addresses[0]?.port ?? 0, '/', { headers: RIGHT });
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      503,
      '1',
      'Too many concurrent password checks.\n',
    ]);
    expect(limits).toEqual(['password_checks']);
  });

  it('releases the slots of clients that disconnect during the password check', async () => {
    const users = new Map([['alice', SLOW]]);
    let arrived = 0;
    const access = () => {
      arrived += 1;
      return { ...OPEN_ACCESS, users };
    };
    const { port, request } = await startApp({}, { access });
    const bytes = `GET /config HTTP/1.1\r\nHost: a\r\nAuthorization: ${RIGHT.authorization}\r\n\r\n`;
    const connections = Array.from({ length: 20 }, () => openConnection(port, bytes));
    await eventually(() => expect(arrived).toBe(20));
    for (const { socket } of connections) socket.destroy();
    expect((await request('/config', { headers: RIGHT })).status).toBe(200);
  });

  it('sets the configured headers on every response, overriding the built-in ones', async () => {
    const headers = { 'Content-Security-Policy': "frame-ancestors 'self'", 'X-Frame-Options': 'sameorigin' };
    const { request } = await startApp({}, { access: () => ({ headers, users: USERS }) });
    for (const path of PATHS) {
      for (const options of [{}, { headers: RIGHT }]) {
        expect((await request(path, options)).headers, path).toMatchObject({
          'content-security-policy': "frame-ancestors 'self'",
          'x-frame-options': 'sameorigin',
          'x-content-type-options': 'nosniff',
        });
      }
    }
  });
});

describe('rateLimiter', () => {
  it('allows a burst, then one request per interval', () => {
    let nowMs = 1000;
    const isAllowed = rateLimiter(() => nowMs);
    const many = (count: number) => Array.from({ length: count }, () => isAllowed({ intervalMs: 100, burst: 3 }));
    expect(many(4)).toEqual([true, true, true, false]);
    nowMs += 99;
    expect(many(1)).toEqual([false]);
    nowMs += 1;
    expect(many(2)).toEqual([true, false]);
    nowMs += 10_000;
    expect(many(4)).toEqual([true, true, true, false]);
  });
});
