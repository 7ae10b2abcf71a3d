import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { resourceOf } from '../stations/fixtures.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { errorText, plainText, READABLE_PATHS, responseTo, startApp } from './running-app.ts';

/** Prometheus adds the `params` of its configuration to scrapes; the others have nothing to select. */
const WITHOUT_SELECTION = ['/metrics', '/probe?station=prod', '/-/metrics', '/-/healthy', '/-/ready', '/favicon.ico'];

describe('createApp', () => {
  it.each(['/Metrics', '/metrics/', '//metrics', '/__proto__'])(
    'matches paths exactly: %s is not found',
    async (path) => {
      expect(await responseTo(path)).toEqual(errorText(404, 'Not found.\n'));
    },
  );

  it.each(READABLE_PATHS)('responds to HEAD %s as to GET without the body, and 405 to other methods', async (path) => {
    const { request } = await startApp();
    const get = await request(path);
    expect(get.status).toBe(200);
    expect(get.body).not.toBe('');
    expect(await request(path, { method: 'HEAD' })).toEqual({ ...get, body: '' });
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      expect(await request(path, { method }), method).toEqual(
        errorText(405, 'Method not allowed; allowed: GET, HEAD.\n', { allow: 'GET, HEAD' }),
      );
    }
  });

  it.each(READABLE_PATHS.filter((path) => !WITHOUT_SELECTION.includes(path)))(
    'responds 400 to a misspelled parameter of %s, which would otherwise select everything',
    async (path) => {
      const { status, body } = await responseTo(`${path}${path.includes('?') ? '&' : '?'}chnage=removed`);
      expect(status).toBe(400);
      expect(body).toMatch(/^Unknown parameter "chnage"\. Expected some of format/);
    },
  );

  it.each(['/%zz', '/probe?station=%ff'])('responds 400 to the malformed percent-encoding in %s', async (path) => {
    const { request, reported } = await startApp();
    expect(await request(path)).toEqual(errorText(400, 'The URL has a malformed percent-encoding.\n'));
    expect(reported).toEqual([]);
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
      const failing = {
        configuration: fail,
        scrape: async () => fail(),
        reload: async () => fail(),
      };
      const { request, reported } = await startApp(failing, { enableLifecycle: true });
      expect(await request(path, { method })).toEqual(errorText(500, 'Internal error.\n', headers));
      expect(reported).toEqual([bug]);
    },
  );

  it.each(['accept-language', 'cookie', 'host', 'referer', 'x-forwarded-host', 'x-original-url'])(
    'neither reflects the header %s nor changes a response because of it',
    async (name) => {
      const { request } = await startApp();
      for (const path of ['/', '/stations/prod', '/-/healthy', '/config', '/nowhere'])
        expect(await request(path, { headers: { [name]: '<script>' } }), path).toEqual(await request(path));
    },
  );

  it('compresses for a client that accepts gzip', async () => {
    const detail = detailOf(Array.from({ length: 5000 }, (_, at) => resourceOf(`resource-${at}`)));
    const { request } = await startApp(exporterOf(detail));
    const path = '/stations/prod/resources?format=csv';
    const plain = await request(path);
    const { headers, body } = await request(path, { headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    for (const { vary } of [headers, plain.headers]) expect(vary).toContain('Accept-Encoding');
    const bytes = Buffer.from(body, 'latin1');
    expect(gunzipSync(bytes).toString()).toBe(plain.body);
    expect(bytes.length).toBeLessThan(plain.body.length / 2);
  });

  it.each(['', '?probe=1'])(
    'answers probes with the query %.20s while the stations are being built, and other requests afterwards',
    async (query) => {
      let start = () => {};
      const started = new Promise<void>((resolve) => {
        start = resolve;
      });
      const externalUrl = new URL('https://example.com/tse/');
      const { request } = await startApp({ started, ready: () => false }, { externalUrl });
      const scrape = request('/metrics');
      for (const prefix of ['', '/tse'])
        for (const method of ['GET', 'HEAD']) {
          expect((await request(`${prefix}/-/healthy${query}`, { method })).status).toBe(200);
          expect((await request(`${prefix}/-/ready${query}`, { method })).status).toBe(503);
        }
      start();
      expect((await scrape).body).toBe('# text\n# all\n');
    },
  );

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
