import { describe, expect, it } from 'vitest';
import { requestTarget } from '../../src/web/request-checks.ts';
import { openConnection } from './http-client.ts';
import { plainText, startApp } from './running-app.ts';

describe('requestTarget', () => {
  it.each([
    ['/metrics?a=b', '/metrics?a=b'],
    ['//metrics', '//metrics'],
    ['http://a/metrics?a=b', '/metrics?a=b'],
    ['HTTPS://a:1', '/'],
    ['http://a?b', '/?b'],
    ['http://a/b/../c', '/b/../c'],
  ])('reads %s as %s', (target, path) => {
    expect(requestTarget(target)).toBe(path);
  });

  it.each(['', '*', 'metrics', 'a:443', 'ftp://a/b', 'http:/metrics', 'http:///metrics', 'http://[/metrics', 'http://a:99999/'])(
    'finds no path in %s',
    (target) => {
      expect(requestTarget(target)).toBeUndefined();
    },
  );
});

describe('wellFormedRequest', () => {
  it('refuses a URL longer than any name needs', async () => {
    const { ask } = await startApp();
    const path = (length: number) => '/probe?station='.padEnd(length, 'a');
    expect((await ask(path(4096))).status).toBe(404);
    expect(await ask(path(4097))).toEqual(plainText(414, 'The URL is longer than 4096 characters.\n'));
  });

  it.each([
    ['GET /metrics', 'Content-Length: 5\r\n\r\nhello'],
    ['GET /metrics', 'Content-Length: 100000000\r\n\r\npart'],
    ['POST /metrics', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['PUT /-/reload', 'Content-Length: 1\r\nExpect: 100-continue\r\n\r\n'],
  ])('refuses %s with a body, asks for no more of it and closes the connection', async (line, rest) => {
    const { port } = await startApp({}, { enableLifecycle: true });
    const { received } = openConnection(port, `${line} HTTP/1.1\r\nHost: a\r\n${rest}`);
    const [head, body, ...further] = (await received).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 413 /);
    expect(head).toContain('\r\nConnection: close');
    expect([body, ...further]).toEqual(['No request here has a body.\n']);
  });

  it('allows an empty body', async () => {
    const { ask } = await startApp({}, { enableLifecycle: true });
    expect((await ask('/-/reload', { method: 'POST', headers: { 'content-length': '0' } })).status).toBe(200);
  });
});
