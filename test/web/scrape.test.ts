import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { eventually } from './eventually.ts';
import { bodyOf } from './fake-exporter.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { openConnection } from './http-client.ts';
import { COMMON_HEADERS, plainText, startApp } from './running-app.ts';

const TEXT = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', vary: 'Accept, Accept-Encoding' };
const OPENMETRICS = { ...TEXT, 'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8' };

/** A scrape that never has news: it answers when its signal aborts. */
const untilAborted: ExporterPort['scrape'] = async (_format, _station, signal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return bodyOf('# at the deadline\n');
};

describe('scrapeAll', () => {
  it('answers with the text format and its exact headers', async () => {
    const { ask } = await startApp();
    expect(await ask('/metrics')).toEqual(plainText(200, '# text\n# all\n', TEXT));
  });

  it('answers with OpenMetrics to whom prefers it', async () => {
    const { ask } = await startApp();
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
    expect(await ask('/metrics', { headers: { accept } })).toEqual(plainText(200, '# openmetrics\n# all\n', OPENMETRICS));
  });

  it('compresses for whom accepts it', async () => {
    const { ask } = await startApp();
    const { body, ...rest } = await ask('/metrics', { headers: { 'accept-encoding': 'gzip' } });
    const { headers } = plainText(200, '', TEXT);
    expect(rest).toEqual({ status: 200, headers: { ...headers, 'content-encoding': 'gzip', 'content-length': String(body.length) } });
    expect(gunzipSync(Buffer.from(body, 'latin1')).toString()).toBe('# text\n# all\n');
  });

  it('answers a compressed HEAD with the headers of GET', async () => {
    const { ask } = await startApp();
    const headers = { 'accept-encoding': 'gzip' };
    const { body: _body, ...rest } = await ask('/metrics', { headers });
    expect(await ask('/metrics', { method: 'HEAD', headers })).toEqual({ ...rest, body: '' });
  });

  it('answers with an empty body when there is nothing to tell', async () => {
    const { ask } = await startApp({ scrape: async () => bodyOf() });
    expect(await ask('/metrics')).toEqual(plainText(200, '', TEXT));
  });

  it('ignores conditions, for a scrape is always news', async () => {
    const { ask } = await startApp();
    expect((await ask('/metrics', { headers: { 'if-none-match': '*' } })).status).toBe(200);
  });

  it('aborts the signal when the time that Prometheus grants is over', async () => {
    const { ask } = await startApp({ scrape: untilAborted }, { scrapeTimeoutMs: 3_600_000 });
    const headers = { 'x-prometheus-scrape-timeout-seconds': '0.51' };
    expect(await ask('/metrics', { headers })).toEqual(plainText(200, '# at the deadline\n', TEXT));
  });

  it('aborts the signal after the default time when Prometheus grants none', async () => {
    const { ask } = await startApp({ scrape: untilAborted }, { scrapeTimeoutMs: 1 });
    expect(await ask('/metrics')).toEqual(plainText(200, '# at the deadline\n', TEXT));
  });

  it('hands out an aborted signal when the offset eats all of the time', async () => {
    const { ask } = await startApp({
      scrape: async (_format, _station, signal) => bodyOf(`# aborted ${signal.aborted}\n`),
    });
    const headers = { 'x-prometheus-scrape-timeout-seconds': '0.5' };
    expect((await ask('/metrics', { headers })).body).toBe('# aborted true\n');
  });

  it('aborts the signal when the client goes away, and that is no error', async () => {
    const signals: AbortSignal[] = [];
    const { port, reported, ask } = await startApp({
      scrape: (format, station, signal) => {
        signals.push(signal);
        return untilAborted(format, station, signal);
      },
    });
    const { socket } = openConnection(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([false]));
    socket.destroy();
    await eventually(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]));
    expect((await ask('/-/healthy')).status).toBe(200);
    expect(reported).toEqual([]);
  });

  it('answers a failing scrape with 500 and reports it', async () => {
    const bug = new Error('bug');
    const { ask, reported } = await startApp({ scrape: () => Promise.reject(bug) });
    expect(await ask('/metrics')).toEqual(plainText(500, 'Internal error.\n'));
    expect(reported).toEqual([bug]);
  });
});

describe('scrapeStation', () => {
  it('looks at no station but the one asked for: with a target for each, looking at all would be a square of them', async () => {
    const { ask } = await startApp({ stations: () => expect.unreachable(), names: () => expect.unreachable() });
    expect((await ask('/probe?station=prod')).status).toBe(200);
  });

  it('answers with the named station alone', async () => {
    const { ask } = await startApp();
    expect(await ask('/probe?station=prod')).toEqual(plainText(200, '# text\n# prod\n', TEXT));
  });

  it.each(['größe & co', '__proto__', 'a+b c', '<b>'])('knows the station %s by its exact name', async (name) => {
    const { ask } = await startApp(exporterOf(detailOf([], { spec: { name } })));
    expect((await ask(`/probe?station=${encodeURIComponent(name)}`)).body).toBe(`# text\n# ${name}\n`);
  });

  it.each(['/probe', '/probe?station', '/probe?station=', '/probe?station=prod&station=prod', '/probe?station[]=prod'])(
    'answers %s with 400',
    async (path) => {
      const { ask } = await startApp();
      expect(await ask(path)).toEqual(plainText(400, 'Name one station: /probe?station=NAME\n'));
    },
  );

  it.each(['other', 'Prod', 'http://example.com/', '<script>'])(
    'answers 404 for %s, which is not configured, without an echo',
    async (name) => {
      const { ask } = await startApp();
      expect(await ask(`/probe?station=${encodeURIComponent(name)}`)).toEqual({
        ...plainText(404, 'No station of that name is configured here.\n'),
        headers: { ...COMMON_HEADERS, 'content-type': 'text/plain; charset=utf-8', 'content-length': '44' },
      });
    },
  );
});
