import { describe, expect, it } from 'vitest';
import type { EndedRefresh } from '../../src/status/latest-refreshes.ts';
import type { ExporterPort, WebOptions } from '../../src/web/port.ts';
import { eventually } from './eventually.ts';
import { detailOf } from './fake-station.ts';
import { errorText, plainText, startApp } from './running-app.ts';

describe('readiness', () => {
  it('responds 503 until the exporter is ready, then 200, and the exporter is healthy meanwhile', async () => {
    let ready = false;
    const { request } = await startApp({ ready: () => ready });
    expect(await request('/-/healthy')).toEqual(plainText(200, 'Healthy.\n'));
    expect(await request('/-/ready')).toEqual(plainText(503, 'Not ready: some stations have not been tried yet.\n'));
    ready = true;
    expect(await request('/-/ready')).toEqual(plainText(200, 'Ready.\n'));
  });
});

describe('requests that change state', () => {
  it.each([
    ['/-/reload', ['POST', 'PUT']],
    ['/stations/prod/refresh', ['POST']],
  ])('responds 405 to %s with methods other than %j, and 403 to these unless enabled', async (path, allowed) => {
    const enabled = await startApp({}, { enableLifecycle: true });
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH'])
      expect(await enabled.request(path, { method }), method).toEqual(
        errorText(405, `Method not allowed; allowed: ${allowed.join(', ')}.\n`, { allow: allowed.join(', ') }),
      );
    const change = () => expect.unreachable();
    const { request, reported } = await startApp({ reload: change, refresh: change }, { enableLifecycle: false });
    for (const method of allowed)
      expect(await request(path, { method })).toEqual(
        errorText(403, 'The lifecycle API is not enabled (--web.enable-lifecycle).\n'),
      );
    expect((await request(path)).status).toBe(405);
    expect(reported).toEqual([]);
  });
});

describe('reload', () => {
  it.each(['POST', 'PUT'])('reloads the configuration on %s', async (method) => {
    const { request } = await startApp({}, { enableLifecycle: true });
    expect(await request('/-/reload', { method })).toEqual(plainText(200, 'Configuration reloaded.\n'));
  });

  it('responds 400 to a rejected configuration, with one problem per line', async () => {
    const { request, reported } = await startApp(
      { reload: async () => ['c.yaml:1:2: a: wrong', 'c.yaml:3:4: b: <wrong>'] },
      { enableLifecycle: true },
    );
    expect(await request('/-/reload', { method: 'POST' })).toEqual(
      plainText(400, 'c.yaml:1:2: a: wrong\nc.yaml:3:4: b: <wrong>\n'),
    );
    expect(reported).toEqual([]);
  });
});

describe('refresh', () => {
  const OUTCOME: EndedRefresh = {
    atMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    outcome: 'failed',
    waitedMs: 0,
    durationMs: 12,
    failure: { reason: 'auth', message: 'refused' },
  };
  const NEVER_ENDS = { ok: true, ended: new Promise<undefined>(() => undefined) } as const;
  const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const start = (refresh: ExporterPort['refresh'], options: Partial<WebOptions> = {}) =>
    startApp({ refresh }, { enableLifecycle: true, ...options });
  const post = (headers: Record<string, string> = {}) => ({ method: 'POST', headers });

  it('responds 404 for an unknown station', async () => {
    const { request } = await start(() => expect.unreachable());
    expect((await request('/stations/gone/refresh', post())).status).toBe(404);
  });

  it('responds with the outcome of the refresh, also if it failed', async () => {
    const { request } = await start(() => ({ ok: true, ended: Promise.resolve(OUTCOME) }));
    const { status, headers, body } = await request('/stations/prod/refresh', post());
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(body)).toMatchObject({
      station: 'prod',
      outcome: 'failed',
      failure_reason: 'auth',
      failure_message: 'refused',
      time: '2026-01-02T03:04:05.000Z',
      refresh_duration_seconds: 0.012,
      resources: null,
    });
    expect(body).toMatch(/^\{.*\}\n$/);
  });

  it('responds 202 when the refresh takes longer than a scrape would wait, and when a reload ends it', async () => {
    const slow = await start(() => NEVER_ENDS, { scrapeTimeoutMs: 1 });
    expect(await slow.request('/stations/prod/refresh', post())).toMatchObject({
      status: 202,
      body: '{"station":"prod","refreshing":true}\n',
    });
    const ended = await start(() => ({ ok: true, ended: Promise.resolve(undefined) }));
    expect((await ended.request('/stations/prod/refresh', post())).status).toBe(202);
  });

  it('responds 429 to a request too soon after another one', async () => {
    const { request } = await start(() => ({ ok: false, waitMs: 3001 }));
    const { status, headers, body } = await request('/stations/prod/refresh', post());
    expect([status, headers['retry-after'], body]).toEqual([
      429,
      '4',
      'The station was refreshed on request a few seconds ago.\n',
    ]);
  });

  it('leads browsers back to the page of the station, with the same query', async () => {
    const result = { ok: true, ended: Promise.resolve(OUTCOME) } as const;
    const detail = detailOf([], { spec: { name: 'a/b?' } });
    const { request } = await startApp({ station: () => detail, refresh: () => result }, { enableLifecycle: true });
    const location = async (path: string) => {
      const { status, headers } = await request(path, post(BROWSER));
      expect(status).toBe(303);
      return new URL(headers['location'] ?? '', `http://exporter${path}`).href;
    };
    expect(await location('/stations/a%2Fb%3F/refresh?state=%3F&page=2')).toBe(
      'http://exporter/stations/a%2Fb%3F?state=%3F&page=2',
    );
    expect(await location('/stations/a%2Fb%3F/refresh')).toBe('http://exporter/stations/a%2Fb%3F');
  });

  it('limits the requests that wait', async () => {
    const { request, limits } = await start(() => NEVER_ENDS, { scrapeTimeoutMs: 1_000_000 });
    for (let count = 0; count < 20; count += 1) void request('/stations/prod/refresh', post()).catch(() => undefined);
    await eventually(async () => {
      const { status } = await request('/stations/gone/refresh', post());
      expect(status).toBe(503);
    });
    expect(limits).toContain('refreshes');
  });
});
