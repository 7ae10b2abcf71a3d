import { once } from 'node:events';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { RequestQueue } from '../../src/web/request-limit.ts';
import { eventually } from './eventually.ts';
import { heldCalls } from './held-calls.ts';
import { openConnection } from './http-client.ts';
import { errorText, startApp } from './running-app.ts';

const OVER_LIMIT = errorText(503, 'Too many concurrent requests; the limit is 20.\n', {
  vary: 'Accept, Accept-Encoding',
  'retry-after': '1',
});

/** Selections and reloads that continue until `release` is called, even when their client has disconnected. */
function heldWork() {
  const { hold, ...calls } = heldCalls();
  const work = async () => {
    await hold();
    return [];
  };
  return { exporter: { select: work, reload: work }, ...calls };
}

describe('limitRequests', () => {
  it('limits pages together, and apart from scrapes and reloads', async () => {
    const { exporter, began, release } = heldWork();
    const { request, limits } = await startApp({ select: exporter.select }, { enableLifecycle: true });
    const held = Array.from({ length: 20 }, () => request('/stations/prod'));
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

  it.each(['GET /stations/prod', 'POST /-/reload'])(
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

  it('ends the selection of a page when its client disconnects', async () => {
    const signals: AbortSignal[] = [];
    const select: ExporterPort['select'] = async (_snapshot, _selection, _order, signal) => {
      signals.push(signal);
      if (signals.length === 1) await once(signal, 'abort');
      signal.throwIfAborted();
      return [];
    };
    const { port, reported, request } = await startApp({ select });
    const { socket } = openConnection(port, 'GET /stations/prod HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(signals).toHaveLength(1));
    expect(signals[0]?.aborted).toBe(false);
    socket.destroy();
    await eventually(() => expect(signals[0]?.aborted).toBe(true));
    expect((await request('/stations/prod')).status).toBe(200);
    expect(reported).toEqual([]);
  });
});

describe('RequestQueue', () => {
  /** Requests arrive in successive event-loop iterations; each takes some time. */
  async function handled({ arrivals = 0, tookMs = 0 }) {
    let nowMs = 0;
    const queue = new RequestQueue(() => nowMs);
    const order: string[] = [];
    for (let at = 0; at < arrivals; at += 1) {
      queue.add(() => {
        order.push(`request ${at}`);
        nowMs += tookMs;
      });
      await nextIteration();
      order.push('iteration');
    }
    while (order.filter((step) => step !== 'iteration').length < arrivals) {
      await nextIteration();
      order.push('iteration');
    }
    return order;
  }

  it('lets connections be accepted before it handles the requests of those before them, but not for ever', async () => {
    const order = await handled({ arrivals: 1000, tookMs: 50 });
    const requests = order.filter((step) => step !== 'iteration');
    expect(requests).toEqual(Array.from({ length: 1000 }, (_, at) => `request ${at}`));
    expect(order.indexOf('request 40')).toBeGreaterThan(1000);
    // One in every 33 iterations.
    expect(order.indexOf('request 10')).toBeLessThan(400);
  });

  it('handles several short requests in one iteration, and one that takes long alone', async () => {
    expect((await handled({ arrivals: 10, tookMs: 0 })).slice(-10)).toContain('request 9');
    const order = await handled({ arrivals: 10, tookMs: 2 });
    expect(order.slice(order.indexOf('request 5'), order.indexOf('request 6'))).toEqual(['request 5', 'iteration']);
  });
});
