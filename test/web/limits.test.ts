import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { eventually } from './eventually.ts';
import { bodyOf } from './fake-exporter.ts';
import { openConnection } from './http-client.ts';
import { plainText, startApp } from './running-app.ts';

/** Scrapes that wait until the test lets them all go. */
function heldScrapes() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = 0;
  let over = 0;
  const scrape: ExporterPort['scrape'] = async (_format, _station, signal) => {
    begun += 1;
    await Promise.race([released, once(signal, 'abort')]);
    over += 1;
    return bodyOf('# late\n');
  };
  const began = (count: number) => eventually(() => expect(begun).toBe(count));
  const ended = (count: number) => eventually(() => expect(over).toBe(count));
  return { scrape, began, ended, release };
}

const REFUSAL = plainText(503, 'Too many requests of this kind at once; at most 2 are served.\n', { 'retry-after': '1' });

describe('requestLimit', () => {
  it('refuses the scrape beyond the limit, whichever kind, and serves all else', async () => {
    const { scrape, began, release } = heldScrapes();
    const { ask } = await startApp({ scrape }, { maxRequests: 2 });
    const first = ask('/metrics');
    const second = ask('/probe?station=prod');
    await began(2);
    expect(await ask('/metrics')).toEqual(REFUSAL);
    expect(await ask('/probe?station=prod')).toEqual(REFUSAL);
    expect((await ask('/')).status).toBe(200);
    release();
    expect([(await first).body, (await second).body]).toEqual(['# late\n', '# late\n']);
    expect((await ask('/metrics')).status).toBe(200);
  });

  it('counts the root and the prefix together', async () => {
    const { scrape, began, release } = heldScrapes();
    const { ask } = await startApp({ scrape }, { maxRequests: 2, externalUrl: new URL('http://example.com/tse') });
    const held = [ask('/metrics'), ask('/tse/metrics')];
    await began(2);
    expect((await ask('/tse/metrics')).status).toBe(503);
    release();
    await Promise.all(held);
  });

  it('sets no limit for 0', async () => {
    const { scrape, began, release } = heldScrapes();
    const { ask } = await startApp({ scrape }, { maxRequests: 0 });
    const held = Array.from({ length: 50 }, () => ask('/metrics'));
    await began(50);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(50).fill(200));
  });

  it('gives the places of a vanished client back, pipelined requests included', async () => {
    const { scrape, began, ended, release } = heldScrapes();
    const { port, ask } = await startApp({ scrape }, { maxRequests: 2 });
    const { socket } = openConnection(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    await began(2);
    socket.destroy();
    await ended(2);
    const held = [ask('/metrics'), ask('/metrics')];
    await began(4);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('holds pages that are read slowly to a number of their own, and scrapes go on', async () => {
    let release = () => {};
    const released = new Promise<string[]>((resolve) => {
      release = () => resolve([]);
    });
    let begun = 0;
    const reload = () => {
      begun += 1;
      return released;
    };
    const { ask } = await startApp({ reload }, { enableLifecycle: true });
    const held = Array.from({ length: 20 }, () => ask('/-/reload', { method: 'POST' }));
    await eventually(() => expect(begun).toBe(20));
    for (const path of ['/', '/sd', '/config', '/reference', '/stations/prod', '/stations/prod/resources/a'])
      expect((await ask(path)).status, path).toBe(503);
    for (const path of ['/metrics', '/-/healthy', '/-/ready']) expect((await ask(path)).status, path).toBe(200);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await ask('/')).status).toBe(200);
  });

  it('gives the place back after a probe that named no station', async () => {
    const { ask } = await startApp({}, { maxRequests: 1 });
    expect((await ask('/probe')).status).toBe(400);
    expect((await ask('/probe')).status).toBe(400);
  });
});
