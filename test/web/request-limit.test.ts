import { describe, expect, it } from 'vitest';
import { TaskQueue } from '../../src/tasks/task-queue.ts';
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
  const queue = new TaskQueue();
  const selections: Promise<void>[] = [];
  const forEach: TaskQueue['forEach'] = async (parts, handle) => {
    await hold();
    const selection = queue.forEach(parts, handle);
    selections.push(selection);
    await selection;
  };
  const reload = async () => {
    await hold();
    return [];
  };
  return { exporter: { tasks: Object.assign(new TaskQueue(), { forEach }), reload }, selections, ...calls };
}

describe('limitRequests', () => {
  it('limits pages together, and apart from scrapes and reloads', async () => {
    const { exporter, began, release } = heldWork();
    const { request, limits } = await startApp({ tasks: exporter.tasks }, { enableLifecycle: true });
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

  it.each(['/stations/prod', '/stations/prod/resources'])(
    'ends the selection of %s when its client disconnects',
    async (path) => {
      const { exporter, selections, began, release } = heldWork();
      const { port, reported, request } = await startApp(exporter);
      const { socket } = openConnection(port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await began(1);
      socket.destroy();
      // The server has seen the disconnect when it responds to a connection that was opened after it.
      expect((await request('/-/healthy')).status).toBe(200);
      release();
      await eventually(() => expect(selections).toHaveLength(1));
      await expect(selections[0]).rejects.toThrow('aborted');
      expect((await request(path)).status).toBe(200);
      expect(reported).toEqual([]);
    },
  );
});
