import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openConnection } from '../web/http-client.ts';
import { READABLE_PATHS, startApp } from '../web/running-app.ts';

const PATHS = [
  ...READABLE_PATHS.map((path) => path.replace(/\?.*/, '')),
  ...['/-/reload', '/tse', '/tse/metrics', '/nowhere'],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'M-SEARCH'];
const HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Connection',
  'Content-Length',
  'Expect',
  'Host',
  'Transfer-Encoding',
  'Upgrade',
  'X-Prometheus-Scrape-Timeout-Seconds',
];

/** Any byte except line ends, biased towards syntax. */
const oneLine = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...'%&=?#/\\;:,.[]{}()<>"\'+ -~*q019'),
      fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(
        '%00',
        '%0d%0a',
        '%ff',
        '__proto__',
        'station=',
        'gzip',
        'identity;q=',
        'chunked',
        'Basic ',
        '..',
        'application/openmetrics-text;',
      ),
    ),
    maxLength: 40,
  })
  .map((text) => text.replaceAll(/[\r\n]/g, ''));
const escapedQuery = fc
  .record({ station: fc.string(), x: fc.string() })
  .map((query) => new URLSearchParams(query).toString());
const target = fc
  .tuple(
    fc.constantFrom(...PATHS),
    fc.oneof(
      escapedQuery,
      oneLine.map((text) => text.replaceAll(' ', '')),
    ),
  )
  .map(([path, query]) => `${path}?${query}`);
const headers = fc.array(fc.tuple(fc.constantFrom(...HEADERS), oneLine), { maxLength: 6 });

const externalUrl = new URL('http://example.com/tse');

describe('createApp', () => {
  it('responds to any query, header and method without an internal error', async () => {
    const app = await startApp({}, { externalUrl, enableLifecycle: true });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...METHODS), target, headers, async (method, path, lines) => {
        const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        const { received } = openConnection(
          app.port,
          `${method} ${path} HTTP/1.1\r\nHost: a\r\n${text}Connection: close\r\n\r\n`,
        );
        const response = await received;
        expect(response).toMatch(/^HTTP\/1\.1 (200|202|303|308|400|403|404|405|417|431|503) /);
      }),
      { numRuns: 500 },
    );
    expect(app.reported).toEqual([]);
    expect((await app.request('/-/healthy')).status).toBe(200);
  });
});
