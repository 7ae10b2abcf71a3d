import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { describe, expect, it } from 'vitest';
import { connectorWithTimeout } from '../../src/upstream/connection.ts';

const TARGET = { hostname: 'a', host: 'a:1', protocol: 'http:', port: '1' };

/** The first outcome that the caller hears of, and a way to make the connection come about. */
function connectWithin(limitMs: number) {
  let finish: buildConnector.Callback = () => undefined;
  const connect = connectorWithTimeout((_target, callback) => {
    finish = callback;
  }, limitMs);
  const outcome = new Promise<[Error | null, unknown]>((resolve) => {
    connect(TARGET, (...result) => resolve(result));
  });
  return { outcome, finish: (...result: Parameters<buildConnector.Callback>) => finish(...result) };
}

describe('limitedConnector', () => {
  it('hands on a connection, and the error of one that failed', async () => {
    const made = connectWithin(60_000);
    const socket = new Socket();
    made.finish(null, socket);
    await expect(made.outcome).resolves.toEqual([null, socket]);
    expect(socket.destroyed).toBe(false);
    const failed = connectWithin(60_000);
    failed.finish(new Error('refused'), null);
    await expect(failed.outcome).resolves.toEqual([new Error('refused'), null]);
  });

  it('gives up after the limit, and closes what comes late', async () => {
    const { outcome, finish } = connectWithin(1);
    await expect(outcome).resolves.toMatchObject([{ reason: 'timeout', message: 'a:1: no connection within 1 ms', retryable: true }, null]);
    const socket = new Socket();
    finish(null, socket);
    expect(socket.destroyed).toBe(true);
    finish(new Error('too late to matter'), null);
  });
});
