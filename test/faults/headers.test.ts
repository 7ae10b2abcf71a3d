import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../code-point.ts';
import { configOf, startReadyExporter, wireRecord } from '../e2e/test-bed.ts';
import { startRawService } from '../upstream/support/service.ts';
import { inconsistencies } from './inconsistencies.ts';
import { readStationSamples } from './station-samples.ts';

const CASES = 150;
const PAGE = JSON.stringify({ resources: [wireRecord('a')], page: { offset: 0, size: 1, total: 1 } });

/** Invalid values, values of other headers and almost valid ones. */
const VALUES = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '1.5',
    '1e9',
    '0x10',
    '99999999999999999999',
    'NaN',
    'Infinity',
    '+5',
    '5, 5',
    '5;5',
    '٣',
  ],
  ...[
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    'Sun, 99 Foo -1 99:99:99',
    'Sun',
    'tomorrow',
    '2024-05-01T12:00:00Z',
  ],
  ...[
    'gzip',
    'br',
    'identity',
    'identity, gzip',
    'chunked',
    'gzip, chunked',
    'close',
    'keep-alive',
    'upgrade',
    'application/json',
    'text/html',
  ],
  ...[
    '__proto__',
    'constructor',
    'a\0b',
    'a\rb',
    '\u007f',
    '\xff\xfe',
    '"',
    '名',
    'x'.repeat(5000),
    'http://attacker.example/',
    '//',
  ],
];
const NAMES = [
  ...[
    'Retry-After',
    'Date',
    'Content-Length',
    'Content-Encoding',
    'Transfer-Encoding',
    'Content-Type',
    'Connection',
    'Keep-Alive',
  ],
  ...['Location', 'Trailer', 'Upgrade', 'WWW-Authenticate', 'Set-Cookie', '__proto__', 'X Y', '', ':'],
];
const STATUSES = [
  200, 200, 200, 201, 204, 206, 301, 302, 304, 400, 401, 403, 404, 408, 413, 429, 500, 503, 999, 100, 101, 0,
];

const value = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...VALUES) },
  fc.string({ unit: codePoint, maxLength: 20 }),
);
const header = fc.tuple(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...NAMES) }, fc.string({ maxLength: 10 })),
  value,
);
/** Half of the headers are repeated, with the same or another value. */
const headers = fc
  .array(fc.tuple(header, fc.option(value, { freq: 3 }), fc.boolean()), { maxLength: 6 })
  .map((all) =>
    all.flatMap(([[name, one], other, twice]) =>
      twice ? [[name, one] as const, [name, other ?? one] as const] : [[name, one] as const],
    ),
  );
const reply = fc.record({
  status: fc.constantFrom(...STATUSES),
  headers,
  /** Error of Content-Length; undefined: no header, the end of the connection ends the body. */
  lengthError: fc.option(fc.constantFrom(0, 0, 0, -1, 1, 100, -PAGE.length, 1e15), { nil: undefined }),
  body: fc.oneof({ weight: 4, arbitrary: fc.constant(PAGE) }, fc.string({ unit: codePoint })),
  /** The connection stays open after the body. */
  open: fc.boolean(),
});

type Reply = typeof reply extends fc.Arbitrary<infer T> ? T : never;

const VALID: Reply = { status: 200, headers: [], lengthError: 0, body: PAGE, open: false };

function bytesOf({ status, headers: sent, lengthError, body }: Reply): Buffer {
  const length =
    lengthError === undefined ? [] : [['Content-Length', `${Buffer.byteLength(body) + lengthError}`] as const];
  const lines = [...sent, ...length].map(([name, content]) => `${name}: ${content}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Reason\r\n${lines.join('')}\r\n`, 'latin1'),
    Buffer.from(body),
  ]);
}

describe('Exporter, over replies with random headers', () => {
  it('answers every scrape with consistent metrics', async () => {
    const replies = new Map(fc.sample(reply, CASES).map((sent, index) => [`ts-${index}`, sent]));
    const names = [...replies.keys()];
    const requested = new Map<string, number>();
    let isValid = true;
    const { url } = await startRawService((socket, _connection, request) => {
      const [, name = ''] = /telemetryStations\/([^/]+)\//.exec(request) ?? [];
      requested.set(name, (requested.get(name) ?? 0) + 1);
      const sent = isValid ? VALID : (replies.get(name) ?? expect.unreachable(request));
      if (sent.open) socket.write(bytesOf(sent));
      else socket.end(bytesOf(sent));
    });
    // Each case has its own upstream, because a long Retry-After stops all requests to an upstream.
    const { upstreams, stations, cache } = configOf(url.href, names, {
      upstream: { timeout: '8s', refresh_timeout: '30s' },
    });
    const exporter = await startReadyExporter({
      upstreams: Object.fromEntries(names.map((name) => [name, { ...upstreams.main }])),
      stations: stations.map((station) => ({ ...station, upstream: station.telemetry_station })),
      cache,
    });
    isValid = false;
    requested.clear();
    const response = await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '120' });
    expect(response.status).toBe(200);
    const published = readStationSamples(await response.text());
    expect([...published.keys()].toSorted()).toEqual(names.toSorted());
    expect([...requested.keys()].toSorted()).toEqual(names.toSorted());
    for (const [name, samples] of published) {
      const sent = JSON.stringify(replies.get(name));
      expect(inconsistencies(samples), sent).toEqual([]);
      expect(samples.failingReasons, sent).not.toContain('internal');
    }
    expect(exporter.log.filter((line) => line.includes('level=error'))).toEqual([]);
  });
});
