import { describe, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { bodyOf } from '../web/fake-exporter.ts';
import { RIGHT } from '../web/hashes.ts';
import { openConnection } from '../web/http-client.ts';
import { COMMON_HEADERS, startApp } from '../web/running-app.ts';

const RESTRICTED = { ...OPEN_ACCESS, users: new Map([['alice', RIGHT]]) };

/** An app that records the scrapes that reach the exporter. */
async function startCounting() {
  const scraped: unknown[] = [];
  const app = await startApp({
    scrape: async (_format, station) => {
      scraped.push(station);
      return bodyOf('# metrics\n');
    },
  });
  return { ...app, scraped };
}

describe('createApp under attack', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    '../../../etc/passwd',
    'prod/',
    'prod\0',
    'prod\r\nSet-Cookie: a=b',
    '__proto__',
    '<script>alert(1)</script>',
  ])('responds 404 to a probe of %j without a scrape', async (station) => {
    const { request, scraped } = await startCounting();
    const response = await request(`/probe?station=${encodeURIComponent(station)}`);
    expect(response.status).toBe(404);
    expect(response.body).toMatch(/^No station with this name is configured\.( Did you mean prod\?)?\n$/);
    expect(response.headers['set-cookie']).toBeUndefined();
    expect(scraped).toEqual([]);
  });

  it.each([
    '?__proto__[station]=prod',
    '?constructor[prototype][station]=prod',
    '?station=prod&station[__proto__]=x',
    '?__proto__=prod&hasOwnProperty=1',
  ])('is not affected by prototype keys in the query %s', async (query) => {
    const { request, scraped } = await startCounting();
    const { status } = await request(`/probe${query}`);
    expect([200, 400]).toContain(status);
    expect(scraped.filter((station) => station !== 'prod')).toEqual([]);
    expect(({} as Record<string, unknown>)['station']).toBeUndefined();
  });

  it.each([
    ['a folded header', 'X-A: b\r\n Set-Cookie: a=b'],
    ['two lengths', 'Content-Length: 0\r\nContent-Length: 5'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ])('responds only once, with 400, to a request with %s', async (_what, header) => {
    const { port, scraped } = await startCounting();
    const second = 'GET /probe?station=prod HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const { received } = openConnection(port, `GET /nowhere HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${second}`);
    expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    expect(scraped).toEqual([]);
  });

  it.each([
    'x-prometheus-scrape-timeout-seconds',
    'accept-language',
    'cookie',
    'host',
    'referer',
    'x-forwarded-host',
    'x-original-url',
  ])('neither reflects the header %s nor changes a response because of it', async (name) => {
    const { request } = await startCounting();
    for (const path of ['/', '/reference', '/stations/prod', '/-/healthy', '/config', '/nowhere']) {
      const plain = await request(path);
      expect(await request(path, { headers: { [name]: '<script>attacker.example</script>' } }), path).toEqual(plain);
    }
  });

  it.each(['GET /metrics', 'GET /%zz', 'GET http://[/', 'POST /'])(
    'closes the connection of a client that sends %s and no password, so that it keeps no one out',
    async (line) => {
      const { port } = await startApp({}, { access: () => RESTRICTED });
      const { received } = openConnection(port, `${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(await received).toMatch(/^HTTP\/1\.1 4/);
    },
  );

  it('discloses no request data, stack trace or markup in error responses', async () => {
    const broken = () => {
      throw new Error('secret detail');
    };
    const open = await startApp({ configuration: broken, ready: () => false });
    const closed = await startApp({}, { access: () => RESTRICTED });
    const body = { 'content-length': '1' };
    const mark = 'attacker.example';
    const responses = [
      await open.request('/probe'),
      await open.request(`/%zz${mark}`),
      await closed.request(`/metrics?${mark}`),
      await open.request('/-/reload', { method: 'POST' }),
      await open.request(`/${mark}`),
      await open.request(`/metrics?${mark}`, { method: 'DELETE' }),
      await open.request(`/metrics?${mark}`, { headers: body }),
      await open.request(`/${mark.repeat(400)}`),
      await open.request(`/config?${mark}`),
      await open.request(`/-/ready?${mark}`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 401, 403, 404, 405, 413, 414, 500, 503]);
    for (const response of responses) {
      expect(response.headers).toMatchObject({ ...COMMON_HEADERS, 'content-type': 'text/plain; charset=utf-8' });
      expect(response.body).toMatch(/^[\w .;:,/?=()-]+\n$/);
      expect(response.body).not.toMatch(/attacker|secret detail|node_modules|\.ts|[<>]| at /);
    }
  });
});
