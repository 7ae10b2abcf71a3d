import { describe, expect, it, vi } from 'vitest';
import { eventually } from './eventually.ts';
import { openConnection } from './http-client.ts';
import { plainText, READABLE_PATHS, startApp } from './running-app.ts';

describe('createApp', () => {
  it('answers an unknown path with a plain 404', async () => {
    const { ask } = await startApp();
    expect(await ask('/nowhere')).toEqual(plainText(404, 'Not found.\n'));
  });

  it('takes paths by the letter', async () => {
    const { ask } = await startApp();
    for (const path of ['/Metrics', '/metrics/', '//metrics', '/-/healthy/', '/constructor', '/__proto__']) {
      expect(await ask(path), path).toEqual(plainText(404, 'Not found.\n'));
    }
  });

  it.each(READABLE_PATHS)('answers HEAD %s with the headers of GET and no body', async (path) => {
    const { ask } = await startApp();
    const get = await ask(path);
    expect(get.status).toBe(200);
    expect(get.body).not.toBe('');
    expect(await ask(path, { method: 'HEAD' })).toEqual({ ...get, body: '' });
  });

  it.each(READABLE_PATHS)('refuses every other method on %s and names those allowed', async (path) => {
    const { ask } = await startApp();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      expect(await ask(path, { method }), method).toEqual(
        plainText(405, 'Method not allowed; allowed: GET, HEAD.\n', { allow: 'GET, HEAD' }),
      );
    }
  });

  it.each(['/%zz', '/metrics?x=%', '/probe?station=%ff', '/%C3%28'])('answers the malformed escape in %s with 400', async (path) => {
    const { ask, reported } = await startApp();
    expect(await ask(path)).toEqual(plainText(400, 'The URL holds a malformed percent-encoding.\n'));
    expect(reported).toEqual([]);
  });

  it.each(['http://[/metrics', '*', 'ftp://a/metrics'])('answers the target %s, which names no path, with a plain 400', async (target) => {
    const { port, reported } = await startApp();
    const { received } = openConnection(port, `OPTIONS ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const [head, body] = (await received).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(body).toBe('The request names no path.\n');
    expect(head).toContain('Content-Type: text/plain; charset=utf-8\r\n');
    expect(head).toContain("Content-Security-Policy: default-src 'none'");
    expect(reported).toEqual([]);
  });

  it('answers a whole URL as a target by its path', async () => {
    const { port } = await startApp();
    const { received } = openConnection(port, 'GET http://other.example/-/healthy?a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nHealthy\.\n$/);
  });

  it('answers a throw of the exporter with a 500 that tells nothing, and reports it', async () => {
    const bug = new Error('secret detail');
    const { ask, reported } = await startApp({
      configuration: () => {
        throw bug;
      },
    });
    expect(await ask('/config')).toEqual(plainText(500, 'Internal error.\n'));
    expect(reported).toEqual([bug]);
  });

  it('shows no stack trace even when reporting fails', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { ask } = await startApp(
      { ready: () => JSON.parse('{') },
      {
        report: () => {
          throw new Error('the log is full');
        },
      },
    );
    const answer = await ask('/-/ready');
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('the log is full');
    expect(answer.body).not.toContain(' at ');
    await eventually(() => expect(printed).toHaveBeenCalledOnce());
    printed.mockRestore();
  });

  it('refuses headers beyond 16 KiB', async () => {
    const { ask } = await startApp();
    expect((await ask('/metrics', { headers: { x: 'a'.repeat(17_000) } })).status).toBe(431);
  });

  describe('with another telemetry path', () => {
    it('serves metrics there alone, and the page links to it', async () => {
      const { ask } = await startApp({}, { telemetryPath: '/a/(b):c*' });
      expect((await ask('/a/(b):c*')).body).toBe('# text\n# all\n');
      expect((await ask('/metrics')).status).toBe(404);
      expect((await ask('/')).body).toContain('<a href="./a/(b):c*">Metrics</a>');
    });

    it('serves metrics in place of the page at /', async () => {
      const { ask } = await startApp({}, { telemetryPath: '/' });
      expect((await ask('/')).body).toBe('# text\n# all\n');
    });
  });

  describe('with an external URL whose path is called like the stations’ pages', () => {
    const externalUrl = new URL('https://example.com/stations');

    it.each([...READABLE_PATHS, '/metrics'])('serves %s under the path', async (path) => {
      const { ask } = await startApp({}, { externalUrl });
      expect(await ask(`/stations${path}`)).toEqual(await ask(path));
    });
  });

  describe('with an external URL that has a path', () => {
    const externalUrl = new URL('https://example.com/a+b/tse/');

    it.each(READABLE_PATHS)('serves %s under the path as well as at the root', async (path) => {
      const { ask } = await startApp({}, { externalUrl });
      const atRoot = await ask(path);
      expect(atRoot.status).toBe(200);
      expect(await ask(`/a+b/tse${path}`)).toEqual(atRoot);
    });

    it('sends the path without its slash to the page, where relative links hold', async () => {
      const { ask } = await startApp({}, { externalUrl });
      expect(await ask('/a+b/tse')).toEqual(plainText(308, 'See /a+b/tse/\n', { location: '/a+b/tse/' }));
    });

    it('serves nothing under a path that only begins alike', async () => {
      const { ask } = await startApp({}, { externalUrl });
      expect((await ask('/a+b/tse2/metrics')).status).toBe(404);
      expect((await ask('/A+B/tse/metrics')).status).toBe(404);
    });
  });
});
