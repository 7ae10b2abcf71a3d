import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ExporterPort } from '../../src/web/port.ts';
import { bodyOf } from './fake-exporter.ts';
import { heldCalls } from './held-calls.ts';
import { openConnection } from './http-client.ts';
import { startApp } from './running-app.ts';

/** Scrapes that wait until `release` is called or their deadline. */
function heldScrapes() {
  const { hold, ...calls } = heldCalls();
  const scrape: ExporterPort['scrape'] = async (_format, _station, { signal }) => {
    if (signal.aborted) return bodyOf('# from the cache\n');
    await hold(once(signal, 'abort'));
    return bodyOf('# refreshed\n');
  };
  return { scrape, ...calls };
}

describe('the limit of waiting scrapes', () => {
  it.each([
    ['/metrics', '/probe?station=prod'],
    ['/probe?station=prod', '/metrics'],
  ])('answers scrapes of %s above the limit at once from the cache, while %s still waits', async (path, other) => {
    const { scrape, began, release } = heldScrapes();
    const { request, limits, limited } = await startApp({ scrape }, { maxRequests: 2 });
    const held = [request(path), request(path)];
    await began(2);
    const further = await Promise.all(Array.from({ length: 100 }, () => request(path)));
    expect(further.map(({ status, body }) => [status, body])).toEqual(Array(100).fill([200, '# from the cache\n']));
    expect(limits).toEqual(Array(100).fill('max_requests'));
    // The log names the client.
    expect(new Set(limited)).toEqual(new Set(['127.0.0.1']));
    // A probe that is not valid reaches no limit.
    expect((await request('/probe')).status).toBe(400);
    expect(limits).toHaveLength(100);
    held.push(request(other));
    await began(3);
    release();
    expect((await Promise.all(held)).map(({ body }) => body)).toEqual(Array(3).fill('# refreshed\n'));
    expect((await request(path)).body).toBe('# refreshed\n');
  });

  it('aborts the scrape of a client that disconnects, without an error, and lets another one wait', async () => {
    const { scrape, began, ended, release } = heldScrapes();
    const { port, request, reported } = await startApp({ scrape }, { maxRequests: 1 });
    const { socket } = openConnection(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await began(1);
    socket.destroy();
    await ended(1);
    const held = request('/metrics');
    await began(2);
    release();
    expect((await held).body).toBe('# refreshed\n');
    expect(reported).toEqual([]);
  });
});
