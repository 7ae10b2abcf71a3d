import { describe, expect, it } from 'vitest';
import { openConnection } from './http-client.ts';
import { errorText, plainText, startApp } from './running-app.ts';

describe('healthy', () => {
  it('responds 200 even when the exporter is not ready', async () => {
    const { request } = await startApp({ ready: () => false });
    expect(await request('/-/healthy')).toEqual(plainText(200, 'Healthy.\n'));
  });
});

describe('readiness', () => {
  it('responds 503 until the exporter is ready, then 200', async () => {
    let ready = false;
    const { request } = await startApp({ ready: () => ready });
    expect(await request('/-/ready')).toEqual(plainText(503, 'Not ready: some stations have not been tried yet.\n'));
    ready = true;
    expect(await request('/-/ready')).toEqual(plainText(200, 'Ready.\n'));
  });
});

describe('reload', () => {
  it('responds 403 without a reload unless enabled', async () => {
    let reloads = 0;
    const { request } = await startApp({
      reload: async () => {
        reloads += 1;
        return [];
      },
    });
    for (const method of ['POST', 'PUT']) {
      expect(await request('/-/reload', { method })).toEqual(
        errorText(403, 'The lifecycle API is not enabled (--web.enable-lifecycle).\n'),
      );
    }
    expect(reloads).toBe(0);
  });

  it.each([true, false])('responds 405 to every method but POST and PUT (enabled: %s)', async (enableLifecycle) => {
    const { request } = await startApp({}, { enableLifecycle });
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect(await request('/-/reload', { method }), method).toEqual(
        errorText(405, 'Method not allowed; allowed: POST, PUT.\n', { allow: 'POST, PUT' }),
      );
    }
    expect((await request('/-/reload', { method: 'HEAD' })).status).toBe(405);
  });

  it.each(['POST', 'PUT'])('reloads the configuration on %s', async (method) => {
    const { request } = await startApp({}, { enableLifecycle: true });
    expect(await request('/-/reload', { method })).toEqual(plainText(200, 'Configuration reloaded.\n'));
  });

  it('responds 400 to a rejected configuration, with one problem per line', async () => {
    const { request, reported } = await startApp(
      { reload: async () => ['c.yaml:1:2: a: wrong', 'c.yaml:3:4: b: <wrong>'] },
      { enableLifecycle: true },
    );
    expect(await request('/-/reload', { method: 'POST' })).toEqual(plainText(400, 'c.yaml:1:2: a: wrong\nc.yaml:3:4: b: <wrong>\n'));
    expect(reported).toEqual([]);
  });

  it('responds 500 to an unexpected error and reports it', async () => {
    const bug = new Error('bug');
    const { request, reported } = await startApp({ reload: () => Promise.reject(bug) }, { enableLifecycle: true });
    expect(await request('/-/reload', { method: 'POST' })).toEqual(errorText(500, 'Internal error.\n'));
    expect(reported).toEqual([bug]);
  });

  it('responds 413 to a request with a body, without reading it and without a reload', async () => {
    let reloads = 0;
    const reload = async () => {
      reloads += 1;
      return [];
    };
    const { port } = await startApp({ reload }, { enableLifecycle: true });
    const { received } = openConnection(port, 'POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1\.1 413 /);
    expect(reloads).toBe(0);
  });
});

describe('config', () => {
  it('responds with the configuration in force as plain text', async () => {
    const { request } = await startApp({ configuration: () => 'token: <secret>\nname: größe\n' });
    expect(await request('/config')).toEqual(plainText(200, 'token: <secret>\nname: größe\n', { vary: 'Accept' }));
  });
});
