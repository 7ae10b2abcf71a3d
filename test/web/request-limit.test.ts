import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { StationResource } from '../../src/query/selection.ts';
import { OrderedRows } from '../../src/tasks/ordered-rows.ts';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import type { ExporterPort } from '../../src/web/port.ts';
import { resourceOf } from '../stations/fixtures.ts';
import { eventually } from './eventually.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { heldCalls } from './held-calls.ts';
import { openConnection } from './http-client.ts';
import { errorText, startApp } from './running-app.ts';

const OVER_LIMIT = errorText(503, 'Too many concurrent requests; the limit is 40.\n', {
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
    return { found: new OrderedRows<StationResource>([]), foundStations: 0, withoutData: [] };
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
    let arrived = 0;
    const access = () => {
      arrived += 1;
      return OPEN_ACCESS;
    };
    const app = await startApp({ owners: exporter.owners }, { enableLifecycle: true, access });
    const { request, limits, limited } = app;
    const held = Array.from({ length: 40 }, () => request('/'));
    await eventually(() => expect(arrived).toBe(40));
    await began(4);
    for (const path of ['/', '/sd', '/config', '/stations/prod', '/stations/prod/resources/a'])
      expect(await request(path), path).toEqual(OVER_LIMIT);
    expect(limits).toEqual(Array(5).fill('pages'));
    expect(limited).toEqual(Array(5).fill('127.0.0.1'));
    for (const path of ['/metrics', '/probe?station=prod', '/-/metrics', '/-/healthy', '/-/ready'])
      expect((await request(path)).status, path).toBe(200);
    expect((await request('/-/reload', { method: 'POST' })).status).toBe(200);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect((await request('/')).status).toBe(200);
  });

  it('counts a reload of a client that disconnects until its work has ended', async () => {
    const { exporter, began, ended, release } = heldWork();
    const { port, reported, request } = await startApp(exporter, { enableLifecycle: true });
    const status = async () => (await request('/-/reload', { method: 'POST' })).status;
    const bytes = 'POST /-/reload HTTP/1.1\r\nHost: a\r\n\r\n';
    const connections = Array.from({ length: 20 }, () => openConnection(port, bytes));
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
  });

  it.each(['/search?search=a', '/search?search=a&format=json'])('ends %s when its client disconnects', async (path) => {
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

describe('RenderLimit', () => {
  it('does not render for a client that has disconnected while it waited', async () => {
    const { exporter, began, ended, release } = heldWork();
    const { port, request, reported } = await startApp({ owners: exporter.owners });
    const pages = Array.from({ length: 4 }, () => request('/'));
    await began(4);
    const waiting = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(waiting.socket, 'connect');
    // Answered after the request above has arrived.
    expect((await request('/-/healthy')).status).toBe(200);
    waiting.socket.destroy();
    expect((await request('/-/healthy')).status).toBe(200);
    release();
    await Promise.all(pages);
    await ended(4);
    expect((await request('/')).status).toBe(200);
    await began(5);
    expect(reported).toEqual([]);
  });

  it('renders pages while four searches are in progress', async () => {
    const { search, began, release } = heldWork();
    const { request } = await startApp({ search });
    const searches = Array.from({ length: 4 }, () => request('/search?search=a'));
    await began(4);
    for (const path of ['/', '/?format=json', '/stations/prod']) expect((await request(path)).status, path).toBe(200);
    release();
    expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(Array(4).fill(200));
  });

  it('sends the rest of a long list while four pages are rendered', async () => {
    const { exporter, began, release } = heldWork();
    const many = Array.from({ length: 50_000 }, (_, at) => resourceOf(`resource ${at}`));
    const { port, request } = await startApp({ ...exporterOf(detailOf(many)), owners: exporter.owners });
    const bytes = 'GET /stations/prod/resources?format=csv HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const list = connect(port, '127.0.0.1').pause();
    list.write(bytes);
    await once(list, 'readable');
    const pages = Array.from({ length: 4 }, () => request('/'));
    await began(4);
    expect(await text(list)).toContain('resource 49999');
    release();
    await Promise.all(pages);
  });
});
