import { describe, expect, it } from 'vitest';
import { openConnection } from './http-client.ts';
import { plainText, startApp } from './running-app.ts';

describe('healthy', () => {
  it('is true while the process serves', async () => {
    const { ask } = await startApp({ ready: () => false });
    expect(await ask('/-/healthy')).toEqual(plainText(200, 'Healthy.\n'));
  });
});

describe('readiness', () => {
  it('is 503 until the exporter is ready, then 200', async () => {
    let ready = false;
    const { ask } = await startApp({ ready: () => ready });
    expect(await ask('/-/ready')).toEqual(plainText(503, 'Not ready: some stations were not tried yet.\n'));
    ready = true;
    expect(await ask('/-/ready')).toEqual(plainText(200, 'Ready.\n'));
  });
});

describe('reload', () => {
  it('is forbidden unless enabled, and then does nothing', async () => {
    let reloads = 0;
    const { ask } = await startApp({
      reload: async () => {
        reloads += 1;
        return [];
      },
    });
    for (const method of ['POST', 'PUT']) {
      expect(await ask('/-/reload', { method })).toEqual(plainText(403, 'Reloading over HTTP is not enabled (--web.enable-lifecycle).\n'));
    }
    expect(reloads).toBe(0);
  });

  it.each([true, false])('refuses every method but POST and PUT, enabled: %s', async (enableLifecycle) => {
    const { ask } = await startApp({}, { enableLifecycle });
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect(await ask('/-/reload', { method }), method).toEqual(
        plainText(405, 'Method not allowed; allowed: POST, PUT.\n', { allow: 'POST, PUT' }),
      );
    }
    expect((await ask('/-/reload', { method: 'HEAD' })).status).toBe(405);
  });

  it.each(['POST', 'PUT'])('puts the new configuration in force by %s', async (method) => {
    const { ask } = await startApp({}, { enableLifecycle: true });
    expect(await ask('/-/reload', { method })).toEqual(plainText(200, 'Configuration reloaded.\n'));
  });

  it('answers a rejected configuration with 400 and each reason on its line', async () => {
    const { ask, reported } = await startApp(
      { reload: async () => ['c.yaml:1:2: a: wrong', 'c.yaml:3:4: b: <wrong>'] },
      { enableLifecycle: true },
    );
    expect(await ask('/-/reload', { method: 'POST' })).toEqual(plainText(400, 'c.yaml:1:2: a: wrong\nc.yaml:3:4: b: <wrong>\n'));
    expect(reported).toEqual([]);
  });

  it('answers an unexpected failure with 500 and reports it', async () => {
    const bug = new Error('disk on fire');
    const { ask, reported } = await startApp({ reload: () => Promise.reject(bug) }, { enableLifecycle: true });
    expect(await ask('/-/reload', { method: 'POST' })).toEqual(plainText(500, 'Internal error.\n'));
    expect(reported).toEqual([bug]);
  });

  it('refuses a body without waiting for it, and does nothing', async () => {
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
