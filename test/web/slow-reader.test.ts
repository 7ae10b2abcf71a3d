import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cutOffSlowReader } from '../../src/web/body.ts';
import { listen } from '../../src/web/server.ts';
import { LOOPBACK, openConnection } from './http-client.ts';

describe('cutOffSlowReader', () => {
  it('breaks the connection when the time is over', async () => {
    const server = await listen(
      (_request, response) => {
        cutOffSlowReader(response, 20);
        response.write('part');
      },
      [LOOPBACK],
    );
    onTestFinished(() => server.close(0));
    const { received } = openConnection(server.addresses[0]?.port ?? 0, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await received).toMatch(/part\r\n$/);
  });

  it('leaves no timer behind once the request is closed', () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const request = new IncomingMessage(new Socket());
    cutOffSlowReader(new ServerResponse(request));
    expect(vi.getTimerCount()).toBe(1);
    request.emit('close');
    expect(vi.getTimerCount()).toBe(0);
  });
});
