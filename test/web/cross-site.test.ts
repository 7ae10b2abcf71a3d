import { describe, expect, it } from 'vitest';
import { plainText, startApp } from './running-app.ts';

const FOREIGN = plainText(403, 'Requests of other sites are not allowed.\n');

/** An app that counts reloads. */
async function startCounting(externalUrl?: string) {
  let reloads = 0;
  const reload = async () => {
    reloads += 1;
    return [];
  };
  const app = await startApp(
    { reload },
    { enableLifecycle: true, ...(externalUrl && { externalUrl: new URL(externalUrl) }) },
  );
  return { ...app, reloads: () => reloads };
}

describe('checkCrossSite', () => {
  it.each([
    { origin: 'https://attacker.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
  ])('responds 403 to changes by another site on every path, without a reload: %j', async (headers) => {
    const { request, reloads } = await startCounting();
    for (const path of ['/-/reload', '/metrics', '/nowhere'])
      for (const method of ['POST', 'PUT', 'DELETE']) expect(await request(path, { method, headers })).toEqual(FOREIGN);
    expect(reloads()).toBe(0);
  });

  it('lets its own pages and clients other than browsers reload', async () => {
    const { port, request, reloads } = await startCounting();
    const own = [
      {},
      { origin: `http://127.0.0.1:${port}` },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of own) expect((await request('/-/reload', { method: 'POST', headers })).status).toBe(200);
    expect(reloads()).toBe(own.length);
  });

  it('accepts the origin of the external URL, because a reverse proxy may replace the Host header', async () => {
    const { request } = await startCounting('https://example.com/tse');
    const status = async (origin: string) =>
      (await request('/-/reload', { method: 'POST', headers: { origin } })).status;
    expect(await status('https://example.com')).toBe(200);
    expect(await status('https://example.com:8443')).toBe(403);
  });

  it('accepts reading requests of other sites, which browsers do not let them read', async () => {
    const { request } = await startCounting();
    const headers = { origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' };
    for (const method of ['GET', 'HEAD']) expect((await request('/metrics', { method, headers })).status).toBe(200);
  });
});
