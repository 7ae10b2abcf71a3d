import { EventEmitter, once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import express, { type Request } from 'express';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { acceptsGzip, expositionFormat, scrapeWaitMs, withinDeadline } from '../../src/web/scrape.ts';
import { bodyOf } from './fake-exporter.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { errorText, plainText, responseTo, SERVER_TLS, startApp } from './running-app.ts';

const TEXT = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', vary: 'Accept, Accept-Encoding' };
const OPENMETRICS = { ...TEXT, 'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8' };
const TIMEOUT = 'x-prometheus-scrape-timeout-seconds';

describe('scrapeAll', () => {
  it.each([
    ['/metrics', 'all'],
    ['/probe?station=prod', 'prod'],
    ['/-/metrics', 'own'],
  ])('responds on %s with the exact headers of the format and encoding that the client prefers', async (path, what) => {
    const { request } = await startApp();
    expect(await request(path)).toEqual(plainText(200, `# text\n# ${what}\n`, TEXT));
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
    const headers = { accept, 'accept-encoding': 'gzip' };
    const { body, ...rest } = await request(path, { headers });
    const length = { 'content-encoding': 'gzip', 'content-length': String(body.length) };
    expect(rest).toEqual({ status: 200, headers: plainText(200, '', { ...OPENMETRICS, ...length }).headers });
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString()).toBe(`# openmetrics\n# ${what}\n`);
    expect(await request(path, { method: 'HEAD', headers })).toEqual({ ...rest, body: '' });
  });

  it('sends a large compressed body over TLS, without loss', async () => {
    const text = Array.from({ length: 60_000 }, (_, line) => `# ${line} ${'x'.repeat(line % 30)}\n`).join('');
    const { request } = await startApp({ scrape: async () => bodyOf(text, '# end\n') }, {}, SERVER_TLS);
    const { body } = await request('/metrics', {
      headers: { 'accept-encoding': 'gzip' },
      tls: { rejectUnauthorized: false },
    });
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString() === `${text}# end\n`).toBe(true);
  });

  it.each([
    ['the timeout that Prometheus announces', 3_600_000, { [TIMEOUT]: '0.51' }, 'false'],
    ['--scrape.timeout when Prometheus announces none', 1, {}, 'false'],
    ['the start when the offset leaves no time', 3_600_000, { [TIMEOUT]: '0.5' }, 'true'],
  ])('aborts the signal at %s', async (_when, scrapeTimeoutMs, headers: Record<string, string>, atOnce) => {
    const scrape: ExporterPort['scrape'] = async (_format, _station, { signal }) => {
      const text = `# aborted at once: ${signal.aborted}\n`;
      if (!signal.aborted) await once(signal, 'abort');
      return bodyOf(text);
    };
    const { request } = await startApp({ scrape }, { scrapeTimeoutMs });
    expect(await request('/metrics', { headers })).toEqual(plainText(200, `# aborted at once: ${atOnce}\n`, TEXT));
  });
});

describe('scrapeStation', () => {
  it('enumerates no other stations, which would make a round of probes quadratic', async () => {
    const unused = () => expect.unreachable();
    const { request } = await startApp({ stations: unused, station: unused, specs: unused });
    expect((await request('/probe?station=prod')).body).toBe('# text\n# prod\n');
  });

  it.each(['größe & co', '__proto__', 'a+b c', '<b>'])('finds the station %s by its exact name', async (name) => {
    const { request } = await startApp(exporterOf(detailOf([], { spec: { name } })));
    expect((await request(`/probe?station=${encodeURIComponent(name)}`)).body).toBe(`# text\n# ${name}\n`);
  });

  it.each(['/probe', '/probe?station', '/probe?station=', '/probe?station=prod&station=prod', '/probe?station[]=prod'])(
    'responds 400 to %s',
    async (path) => {
      expect(await responseTo(path)).toEqual(errorText(400, 'Expected one station parameter: /probe?station=NAME\n'));
    },
  );

  it('responds 404 to an unknown station', async () => {
    const text = 'No station "Prod" is configured.\n';
    expect(await responseTo('/probe?station=Prod')).toEqual(errorText(404, text));
  });
});

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const PROMETHEUS_TEXT_ONLY = 'text/plain;version=0.0.4;q=0.6,*/*;q=0.5';

function requestWith(headers: Record<string, string | undefined>): Request {
  return Object.assign(Object.create(express.request) as Request, { headers });
}

describe('expositionFormat', () => {
  it.each([
    ['Prometheus 2', PROMETHEUS_2, 'openmetrics'],
    ['Prometheus 3', PROMETHEUS_3, 'openmetrics'],
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
    ['a client that refuses text', 'text/plain;q=0,*/*;q=0.1', 'openmetrics'],
    ['a client that accepts neither', 'image/png', 'text'],
    ['a client without the header', undefined, 'text'],
  ])('for %s is chosen by Accept: %s', (_client, accept, format) => {
    expect(expositionFormat(requestWith({ accept }))).toBe(format);
  });
});

describe('acceptsGzip', () => {
  it.each([
    ['gzip, deflate, br', true],
    ['*', true],
    ['gzip;q=0.5, identity;q=0.4', true],
    ['gzip;q=0.5, identity', false],
    [undefined, false],
  ])('with Accept-Encoding %j is %s', (header, wanted) => {
    expect(acceptsGzip(requestWith({ 'accept-encoding': header }))).toBe(wanted);
  });
});

const OPTIONS = { scrapeTimeoutMs: 10_000, timeoutOffsetMs: 500 };

describe('scrapeWaitMs', () => {
  it.each<[header: string | undefined, ms: number]>([
    ['5', 4500],
    ['0.75', 250],
    ['10.0', 9500],
    ['2147483', 2_147_482_500],
    ['0.5', 0],
    ['0.1', 0],
    ...['', '0', '-1', 'Infinity', 'NaN', '1e3', '0x10', '5s', '5, 5', '.5', '99999999999', '9'.repeat(400)].map(
      (invalid): [string, number] => [invalid, 10_000],
    ),
    [undefined, 10_000],
  ])('subtracts the offset from the header %s, or is the default: %d', (header, ms) => {
    expect(scrapeWaitMs(header, OPTIONS)).toBe(ms);
  });

  it('is at most the longest delay of a timer', () => {
    expect(scrapeWaitMs(undefined, { ...OPTIONS, scrapeTimeoutMs: 2 ** 40 })).toBe(2_147_483_647);
  });
});

describe('withinDeadline', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['done', async () => 'done'],
    ['failed', async () => Promise.reject(new Error('bug'))],
  ])('removes its timer and listener when the work is %s', async (_how, work) => {
    vi.useFakeTimers();
    const request = new EventEmitter();
    const signals: AbortSignal[] = [];
    await withinDeadline(request, 60_000, ({ signal }) => {
      signals.push(signal);
      expect(vi.getTimerCount()).toBe(1);
      return work();
    }).catch(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
    expect(request.listenerCount('close')).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
