import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
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

describe('reload', () => {
  it('responds 405 to methods other than POST and PUT, and 403 to these unless enabled', async () => {
    const enabled = await startApp({}, { enableLifecycle: true });
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PATCH'])
      expect(await enabled.request('/-/reload', { method }), method).toEqual(
        errorText(405, 'Method not allowed; allowed: POST, PUT.\n', { allow: 'POST, PUT' }),
      );
    const { request, reported } = await startApp({ reload: () => expect.unreachable() }, { enableLifecycle: false });
    for (const method of ['POST', 'PUT'])
      expect(await request('/-/reload', { method })).toEqual(
        errorText(403, 'The lifecycle API is not enabled (--web.enable-lifecycle).\n'),
      );
    expect((await request('/-/reload')).status).toBe(405);
    expect(reported).toEqual([]);
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
    expect(await request('/-/reload', { method: 'POST' })).toEqual(
      plainText(400, 'c.yaml:1:2: a: wrong\nc.yaml:3:4: b: <wrong>\n'),
    );
    expect(reported).toEqual([]);
  });

  it('limits the requests that wait', async () => {
    const never = new Promise<readonly string[]>(() => undefined);
    const { request, limits } = await startApp({ reload: () => never }, { enableLifecycle: true });
    const post = { method: 'POST' };
    for (let count = 0; count < 20; count += 1) void request('/-/reload', post).catch(() => undefined);
    await eventually(() => expect(request('/-/reload', post)).resolves.toMatchObject({ status: 503 }));
    expect(limits).toContain('reloads');
  });
});
