import { describe, expect, it } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { eventually } from './eventually.ts';
import { heldCalls } from './held-calls.ts';
import { openConnection } from './http-client.ts';
import { errorText, startApp } from './running-app.ts';

const OVER_LIMIT = errorText(503, 'Too many concurrent requests; the limit is 20.\n', {
  vary: 'Accept, Accept-Encoding',
  'retry-after': '1',
});

/** Status pages, searches and reloads that continue until `release` is called, even when their client has disconnected. */
function heldWork() {
  const { hold, ...calls } = heldCalls();
  const signals: AbortSignal[] = [];
  const search: ExporterPort['search'] = async (_selection, _order, signal) => {
    signals.push(signal);
    await hold();
    signal.throwIfAborted();
    return { found: [], withoutData: [] };
  };
  const owners = async () => {
    await hold();
    return [];
  };
  const reload = async () => {
    await hold();
    return [];
  };
  return { exporter: { owners, reload }, search, signals, ...calls };
}

describe('limitRequests', () => {
  it('limits pages together, and apart from scrapes and reloads', async () => {
    const { exporter, began, release } = heldWork();
    const { request, limits } = await startApp({ owners: exporter.owners }, { enableLifecycle: true });
    const held = Array.from({ length: 20 }, () => request('/'));
    await began(20);
    for (const path of ['/', '/sd', '/config', '/reference', '/stations/prod', '/stations/prod/resources/a'])
      expect(await request(path), path).toEqual(OVER_LIMIT);
    expect(limits).toEqual(Array(6).fill('pages'));
    for (const path of ['/metrics', '/-/healthy', '/-/ready']) expect((await request(path)).status, path).toBe(200);
    expect((await request('/-/reload', { method: 'POST' })).status).toBe(200);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await request('/')).status).toBe(200);
  });

  it.each(['GET /', 'POST /-/reload'])(
    'counts %s of a client that disconnects until its work has ended',
    async (line) => {
      const { exporter, began, ended, release } = heldWork();
      const { port, reported, request } = await startApp(exporter, { enableLifecycle: true });
      const [method = '', path = ''] = line.split(' ');
      const status = async () => (await request(path, { method })).status;
      const connections = Array.from({ length: 20 }, () => openConnection(port, `${line} HTTP/1.1\r\nHost: a\r\n\r\n`));
      await began(20);
      for (const { socket } of connections) socket.destroy();
      await Promise.all(connections.map(({ received }) => received));
      // The server has seen the disconnects when it responds to a connection that was opened after them.
      expect((await request('/-/healthy')).status).toBe(200);
      expect(await status()).toBe(503);
      release();
      await ended(20);
      expect(await status()).toBe(200);
      expect(reported).toEqual([]);
    },
  );

  it.each(['/search?q=a', '/search?q=a&format=json'])('ends %s when its client disconnects', async (path) => {
    const { search, signals, began, release } = heldWork();
    const { port, reported, request } = await startApp({ search });
    const { socket } = openConnection(port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await began(1);
    expect(signals[0]?.aborted).toBe(false);
    socket.destroy();
    await eventually(() => expect(signals[0]?.aborted).toBe(true));
    release();
    expect((await request(path)).status).toBe(200);
    expect(reported).toEqual([]);
  });
});
