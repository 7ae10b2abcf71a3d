import { EventEmitter, once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import express, { type Request } from 'express';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { acceptsGzip, expositionFormat, scrapeDeadlineMs, withinDeadline } from '../../src/web/scrape.ts';
import { codePoint } from '../code-point.ts';
import { issue } from '../upstream/support/certificates.ts';
import { eventually } from './eventually.ts';
import { bodyOf } from './fake-exporter.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { httpRequest, openConnection } from './http-client.ts';
import { errorText, plainText, startApp } from './running-app.ts';

const TEXT = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', vary: 'Accept, Accept-Encoding' };
const OPENMETRICS = { ...TEXT, 'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8' };

/** A scrape that waits until its signal aborts. */
const untilAborted: ExporterPort['scrape'] = async (_format, _station, signal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return bodyOf('# at the deadline\n');
};

describe('scrapeAll', () => {
  it('responds in the text format with the exact headers', async () => {
    const { request } = await startApp();
    expect(await request('/metrics')).toEqual(plainText(200, '# text\n# all\n', TEXT));
  });

  it('responds in OpenMetrics when the client prefers it', async () => {
    const { request } = await startApp();
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
    expect(await request('/metrics', { headers: { accept } })).toEqual(
      plainText(200, '# openmetrics\n# all\n', OPENMETRICS),
    );
  });

  it('sends a large compressed body in pieces over TLS, without loss', async () => {
    const { cert, key } = issue({ name: 'server' });
    const tls = { context: { cert, key }, client: { requested: false, required: false, verified: false } };
    const text = Array.from({ length: 60_000 }, (_, line) => `# ${line} ${'x'.repeat(line % 30)}\n`).join('');
    const { port } = await startApp({ scrape: async () => bodyOf(text, '# end\n') }, {}, tls);
    const { body } = await httpRequest(port, '/metrics', {
      headers: { 'accept-encoding': 'gzip' },
      tls: { rejectUnauthorized: false },
    });
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString() === `${text}# end\n`).toBe(true);
  });

  it('compresses the body when the client accepts gzip', async () => {
    const { request } = await startApp();
    const { body, ...rest } = await request('/metrics', { headers: { 'accept-encoding': 'gzip' } });
    const { headers } = plainText(200, '', TEXT);
    expect(rest).toEqual({
      status: 200,
      headers: { ...headers, 'content-encoding': 'gzip', 'content-length': String(body.length) },
    });
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString()).toBe('# text\n# all\n');
  });

  it('responds to HEAD with gzip with the headers of GET', async () => {
    const { request } = await startApp();
    const headers = { 'accept-encoding': 'gzip' };
    const { body: _body, ...rest } = await request('/metrics', { headers });
    expect(await request('/metrics', { method: 'HEAD', headers })).toEqual({ ...rest, body: '' });
  });

  it('responds with an empty body when there are no metrics', async () => {
    const { request } = await startApp({ scrape: async () => bodyOf() });
    expect(await request('/metrics')).toEqual(plainText(200, '', TEXT));
  });

  it('ignores conditional headers', async () => {
    const { request } = await startApp();
    expect((await request('/metrics', { headers: { 'if-none-match': '*' } })).status).toBe(200);
  });

  it('aborts the signal at the timeout that Prometheus announces', async () => {
    const { request } = await startApp({ scrape: untilAborted }, { scrapeTimeoutMs: 3_600_000 });
    const headers = { 'x-prometheus-scrape-timeout-seconds': '0.51' };
    expect(await request('/metrics', { headers })).toEqual(plainText(200, '# at the deadline\n', TEXT));
  });

  it('aborts the signal at --scrape.timeout when Prometheus announces none', async () => {
    const { request } = await startApp({ scrape: untilAborted }, { scrapeTimeoutMs: 1 });
    expect(await request('/metrics')).toEqual(plainText(200, '# at the deadline\n', TEXT));
  });

  it('starts with an aborted signal when the offset leaves no time', async () => {
    const { request } = await startApp({
      scrape: async (_format, _station, signal) => bodyOf(`# aborted ${signal.aborted}\n`),
    });
    const headers = { 'x-prometheus-scrape-timeout-seconds': '0.5' };
    expect((await request('/metrics', { headers })).body).toBe('# aborted true\n');
  });

  it('aborts the signal when the client disconnects, without an error', async () => {
    const signals: AbortSignal[] = [];
    const { port, reported, request } = await startApp({
      scrape: (format, station, signal) => {
        signals.push(signal);
        return untilAborted(format, station, signal);
      },
    });
    const { socket } = openConnection(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([false]));
    socket.destroy();
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]));
    expect((await request('/-/healthy')).status).toBe(200);
    expect(reported).toEqual([]);
  });

  it('responds 500 when the scrape rejects, and reports the error', async () => {
    const bug = new Error('bug');
    const { request, reported } = await startApp({ scrape: () => Promise.reject(bug) });
    expect(await request('/metrics')).toEqual(errorText(500, 'Internal error.\n'));
    expect(reported).toEqual([bug]);
  });
});

describe('scrapeOwn', () => {
  it('responds on /-/metrics with the own metrics alone, in the formats of /metrics', async () => {
    const { request } = await startApp({ scrape: () => expect.unreachable() });
    expect(await request('/-/metrics')).toEqual(plainText(200, '# text\n# own\n', TEXT));
    const accept = 'application/openmetrics-text;version=1.0.0';
    const compressed = await request('/-/metrics', { headers: { accept, 'accept-encoding': 'gzip' } });
    expect(compressed.headers).toMatchObject({ ...OPENMETRICS, 'content-encoding': 'gzip' });
    expect(gunzipSync(Buffer.from(compressed.body, 'latin1')).toString()).toBe('# openmetrics\n# own\n');
  });
});

describe('scrapeStation', () => {
  it('responds with only the named station, and enumerates no others, which would make a round of probes quadratic', async () => {
    const { request } = await startApp({
      stations: () => expect.unreachable(),
      station: () => expect.unreachable(),
      specs: () => expect.unreachable(),
    });
    expect(await request('/probe?station=prod')).toEqual(plainText(200, '# text\n# prod\n', TEXT));
  });

  it.each(['größe & co', '__proto__', 'a+b c', '<b>'])('finds the station %s by its exact name', async (name) => {
    const { request } = await startApp(exporterOf(detailOf([], { spec: { name } })));
    expect((await request(`/probe?station=${encodeURIComponent(name)}`)).body).toBe(`# text\n# ${name}\n`);
  });

  it.each(['/probe', '/probe?station', '/probe?station=', '/probe?station=prod&station=prod', '/probe?station[]=prod'])(
    'responds 400 to %s',
    async (path) => {
      const { request } = await startApp();
      expect(await request(path)).toEqual(errorText(400, 'Expected one station parameter: /probe?station=NAME\n'));
    },
  );

  it.each([
    ['other', ''],
    ['Prod', ' Did you mean prod?'],
    ['http://example.com/', ''],
    ['<script>', ''],
  ])('responds 404 to the unknown station %s without reflecting it', async (name, meant) => {
    const { request } = await startApp();
    const path = `/probe?station=${encodeURIComponent(name)}`;
    const text = `No station with this name is configured on this shard.${meant}\n`;
    expect(await request(path)).toEqual(errorText(404, text));
  });
});

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const PROMETHEUS_3_PROTOBUF = `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,${PROMETHEUS_3}`;
const PROMETHEUS_TEXT_ONLY = 'text/plain;version=0.0.4;q=0.6,*/*;q=0.5';
const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

/** Arbitrary text, and combinations of the parts of such headers. */
const anyHeader = fc.oneof(
  fc.string({ unit: codePoint }),
  fc
    .array(
      fc.constantFrom(
        'application/openmetrics-text',
        'text/plain',
        '*/*',
        'gzip',
        'identity',
        '*',
        ',',
        ';',
        '=',
        '"',
        '\\',
        ' ',
        'q',
        'version',
        '1.0.0',
        '0.0.4',
        'escaping',
        'charset',
        'utf-8',
        '0',
        '0.5',
        '-1',
        'Infinity',
        'NaN',
        '__proto__',
        'constructor',
        'toString',
      ),
      { maxLength: 40 },
    )
    .map((pieces) => pieces.join('')),
);

function requestWith(headers: Record<string, string | undefined>): Request {
  return Object.assign(Object.create(express.request) as Request, { headers });
}

describe('expositionFormat', () => {
  it.each([
    ['Prometheus 2', PROMETHEUS_2, 'openmetrics'],
    ['Prometheus 3', PROMETHEUS_3, 'openmetrics'],
    ['Prometheus 3 that prefers protobuf', PROMETHEUS_3_PROTOBUF, 'openmetrics'],
    [
      'Prometheus 3 with underscores',
      'application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.6,*/*;q=0.2',
      'openmetrics',
    ],
    ['Prometheus with only text enabled', PROMETHEUS_TEXT_ONLY, 'text'],
    ['a client of the exact content type', 'application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics'],
    ['a client of OpenMetrics without a version', 'application/openmetrics-text', 'openmetrics'],
    ['a client of another OpenMetrics version', 'application/openmetrics-text;version=0.0.1', 'text'],
    ['curl', '*/*', 'text'],
    ['a browser', FIREFOX, 'text'],
    ['a client that prefers text', 'application/openmetrics-text;q=0.5,text/plain;q=0.6', 'text'],
    ['a client that refuses OpenMetrics', 'application/openmetrics-text;q=0,*/*', 'text'],
    ['a client that refuses text', 'text/plain;q=0,*/*;q=0.1', 'openmetrics'],
    ['a client that accepts neither', 'image/png', 'text'],
    ['a client that accepts no type', '*/*;q=0', 'text'],
    ['a client without the header', undefined, 'text'],
  ])('for %s is chosen by Accept: %s', (_client, accept, format) => {
    expect(expositionFormat(requestWith({ accept }))).toBe(format);
  });

  it('and acceptsGzip have a result for any header', () => {
    fc.assert(
      fc.property(anyHeader, (header) => {
        const request = requestWith({ accept: header, 'accept-encoding': header });
        expect(['text', 'openmetrics']).toContain(expositionFormat(request));
        expect([true, false]).toContain(acceptsGzip(request));
      }),
    );
  });
});

describe('acceptsGzip', () => {
  it.each([
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['GZIP', true],
    ['*', true],
    ['gzip;q=0.5', true],
    ['gzip;q=0.5, identity;q=0.4', true],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0', false],
    ['identity', false],
    ['deflate, br', false],
    ['gzip;q=0.5, identity', false],
    ['', false],
    [undefined, false],
  ])('with Accept-Encoding %j is %s', (header, wanted) => {
    expect(acceptsGzip(requestWith({ 'accept-encoding': header }))).toBe(wanted);
  });
});

const OPTIONS = { scrapeTimeoutMs: 10_000, timeoutOffsetMs: 500 };
const MAX_TIMER_MS = 2_147_483_647;

describe('scrapeDeadlineMs', () => {
  it.each([
    ['5', 4500],
    ['0.75', 250],
    ['10.0', 9500],
    ['2147483', 2_147_482_500],
    ['0.5', 0],
    ['0.1', 0],
  ])('subtracts the offset from the header %s', (header, ms) => {
    expect(scrapeDeadlineMs(header, OPTIONS)).toBe(ms);
  });

  it.each([
    undefined,
    '',
    '0',
    '-1',
    'Infinity',
    'NaN',
    '1e3',
    '0x10',
    '5s',
    '5, 5',
    '.5',
    '99999999999',
    '9'.repeat(400),
  ])('is the default without the offset for the header %s', (header) => {
    expect(scrapeDeadlineMs(header, OPTIONS)).toBe(10_000);
  });

  it('is a valid timer delay for any header and options', () => {
    const header = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.integer({ min: 0 }).map(String),
      fc.stringMatching(/^[0-9.e+-]*$/),
    );
    fc.assert(
      fc.property(header, fc.maxSafeNat(), fc.nat(), (text, scrapeTimeoutMs, timeoutOffsetMs) => {
        const ms = scrapeDeadlineMs(text, { scrapeTimeoutMs, timeoutOffsetMs });
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(MAX_TIMER_MS);
      }),
    );
  });
});

describe('withinDeadline', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('aborts the signal at the deadline, not before', async () => {
    vi.useFakeTimers();
    const request = new EventEmitter();
    const result = withinDeadline(request, 1000, async (signal) => {
      await vi.advanceTimersByTimeAsync(999);
      const before = signal.aborted;
      await vi.advanceTimersByTimeAsync(1);
      return [before, signal.aborted];
    });
    expect(await result).toEqual([false, true]);
  });

  it.each([
    ['done', async () => 'done'],
    ['failed', async () => Promise.reject(new Error('bug'))],
  ])('removes its timer and listener when the work is %s', async (_how, work) => {
    vi.useFakeTimers();
    const request = new EventEmitter();
    const signals: AbortSignal[] = [];
    await withinDeadline(request, 60_000, (signal) => {
      signals.push(signal);
      expect(vi.getTimerCount()).toBe(1);
      return work();
    }).catch(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
    expect(request.listenerCount('close')).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
