import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { resourceOf } from '../refresh/fixtures.ts';
import { eventually } from './eventually.ts';
import { bodyOf } from './fake-exporter.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { openConnection } from './http-client.ts';
import { errorText, plainText, READABLE_PATHS, responseTo, startApp } from './running-app.ts';

describe('createApp', () => {
  it.each(['/nowhere', '/Metrics', '/metrics/', '//metrics', '/-/healthy/', '/constructor', '/__proto__'])(
    'matches paths exactly: %s is not found',
    async (path) => {
      expect(await responseTo(path)).toEqual(errorText(404, 'Not found.\n'));
    },
  );

  it.each(READABLE_PATHS)('responds to HEAD %s with the headers of GET and no body', async (path) => {
    const { request } = await startApp();
    const get = await request(path);
    expect(get.status).toBe(200);
    expect(get.body).not.toBe('');
    expect(await request(path, { method: 'HEAD' })).toEqual({ ...get, body: '' });
  });

  it.each(READABLE_PATHS)('responds 405 with Allow to every other method on %s', async (path) => {
    const { request } = await startApp();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      expect(await request(path, { method }), method).toEqual(
        errorText(405, 'Method not allowed; allowed: GET, HEAD.\n', { allow: 'GET, HEAD' }),
      );
    }
  });

  it.each(['/%zz', '/metrics?x=%', '/probe?station=%ff', '/%C3%28'])(
    'responds 400 to the malformed percent-encoding in %s',
    async (path) => {
      const { request, reported } = await startApp();
      expect(await request(path)).toEqual(errorText(400, 'The URL has a malformed percent-encoding.\n'));
      expect(reported).toEqual([]);
    },
  );

  it.each(['http://[/metrics', '*', 'ftp://a/metrics'])(
    'responds 400 to the request target %s, which has no path',
    async (target) => {
      const { port, reported } = await startApp();
      const { received } = openConnection(port, `OPTIONS ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const [head, body] = (await received).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(body).toBe('The request target has no path.\n');
      expect(head).toContain('Content-Type: text/plain; charset=utf-8\r\n');
      expect(head).toContain("Content-Security-Policy: default-src 'none'");
      expect(reported).toEqual([]);
    },
  );

  it('routes an absolute URL as request target by its path', async () => {
    const { port } = await startApp();
    const { received } = openConnection(
      port,
      'GET http://other.example/-/healthy?a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nHealthy\.\n$/);
  });

  it.each([
    ['GET', '/config', { vary: 'Accept, Accept-Encoding' }],
    ['GET', '/metrics', {}],
    ['POST', '/-/reload', {}],
  ])(
    'responds 500 without details when the exporter fails on %s %s, and reports the error',
    async (method, path, headers) => {
      const bug = new Error('secret detail');
      const fail = () => {
        throw bug;
      };
      const failing = { configuration: fail, scrape: async () => fail(), reload: async () => fail() };
      const { request, reported } = await startApp(failing, { enableLifecycle: true });
      expect(await request(path, { method })).toEqual(errorText(500, 'Internal error.\n', headers));
      expect(reported).toEqual([bug]);
    },
  );

  it('sends no stack trace even when the report callback throws', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { request } = await startApp(
      { ready: () => JSON.parse('{') },
      {
        report: () => {
          throw new Error('the log is full');
        },
      },
    );
    const response = await request('/-/ready');
    expect(response.status).toBe(500);
    expect(response.body).not.toContain('the log is full');
    expect(response.body).not.toContain(' at ');
    await eventually(() => expect(printed).toHaveBeenCalledOnce());
    printed.mockRestore();
  });

  it.each([
    ['/', 'gzip', 'gzip'],
    ['/stations/prod/resources', 'gzip', 'gzip'],
    ['/stations/prod/resources?format=csv', 'gzip', 'gzip'],
    ['/stations/prod', 'br, gzip', 'br'],
    ['/stations/prod', 'identity', undefined],
    ['/metrics', 'br', undefined],
    ['/-/metrics', 'deflate', undefined],
    ['/probe?station=prod', 'br', undefined],
  ])('compresses %s for a client that accepts %s: %s', async (path, accepted, encoding) => {
    const detail = detailOf(Array.from({ length: 5000 }, (_, at) => resourceOf(`resource-${at}`)));
    const text = bodyOf('# text\n'.repeat(1000));
    const { request } = await startApp({
      ...exporterOf(detail),
      scrape: async () => text,
      scrapeOwn: async () => text,
    });
    const plain = await request(path);
    const { headers, body } = await request(path, { headers: { 'accept-encoding': accepted } });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toContain('Accept-Encoding');
    const bytes = Buffer.from(body, 'latin1');
    const decode = { gzip: gunzipSync, br: brotliDecompressSync }[encoding ?? ''];
    expect(decode ? decode(bytes).toString() : body).toBe(plain.body);
    if (decode) expect(bytes.length).toBeLessThan(plain.body.length / 2);
  });

  it('answers probes of the process while the stations are being built, and other requests afterwards', async () => {
    let start = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const { request } = await startApp({ started, ready: () => false });
    const scrape = request('/metrics');
    expect((await request('/-/healthy')).status).toBe(200);
    expect((await request('/-/ready')).status).toBe(503);
    start();
    expect((await scrape).body).toBe('# text\n# all\n');
  });

  it.each(['?probe=1', '?', '?a=%zz', `?${'a'.repeat(5000)}`, '?/-/ready'])(
    'answers probes of the process while the stations are being built also with the query %.20s',
    async (query) => {
      const started = new Promise<void>(() => {});
      const externalUrl = new URL('https://example.com/tse/');
      const { request } = await startApp({ started, ready: () => false }, { externalUrl });
      for (const path of ['/-/healthy', '/-/ready', '/tse/-/healthy', '/tse/-/ready'])
        for (const method of ['GET', 'HEAD'])
          expect(await request(`${path}${query}`, { method })).toEqual(await request(path, { method }));
    },
  );

  it('responds 431 to headers larger than 16 KiB', async () => {
    expect((await responseTo('/metrics', { headers: { x: 'a'.repeat(17_000) } })).status).toBe(431);
  });

  it.each(['/a/(b):c*', '/'])('serves metrics only at the telemetry path %s', async (telemetryPath) => {
    const { request } = await startApp({}, { telemetryPath });
    expect((await request(telemetryPath)).body).toBe('# text\n# all\n');
    expect((await request('/metrics')).status).toBe(404);
    if (telemetryPath !== '/') expect((await request('/')).body).toContain(`<a href=".${telemetryPath}">Metrics</a>`);
  });

  it.each(['/a+b/tse', '/stations'].flatMap((prefix) => READABLE_PATHS.map((path) => [prefix, path])))(
    'serves under the prefix %s of the external URL %s, and at the root',
    async (prefix, path) => {
      const { request } = await startApp({}, { externalUrl: new URL(`https://example.com${prefix}/`) });
      const atRoot = await request(path);
      expect(atRoot.status).toBe(200);
      expect(await request(prefix + path)).toEqual(atRoot);
    },
  );

  describe('with an external URL that has a path', () => {
    const externalUrl = new URL('https://example.com/a+b/tse/');

    it('redirects the prefix to its trailing slash, so that relative links resolve, and serves no other path', async () => {
      const { request } = await startApp({}, { externalUrl });
      expect(await request('/a+b/tse')).toEqual(plainText(308, 'See /a+b/tse/\n', { location: '/a+b/tse/' }));
      for (const path of ['/a+b/tse2/metrics', '/A+B/tse/metrics']) expect((await request(path)).status).toBe(404);
    });

    it.each(['/stations', '/a+b/tse/stations'])('redirects %s to the status page', async (path) => {
      const { request } = await startApp({}, { externalUrl });
      const { status, headers } = await request(path);
      expect(status).toBe(308);
      expect(new URL(`${headers.location}`, `http://exporter${path}`).pathname).toBe(path.replace('stations', ''));
    });
  });
});
