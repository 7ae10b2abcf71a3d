import express from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { failedRequest } from '../../src/web/respond.ts';
import { listen } from '../../src/web/server.ts';
import { LOOPBACK, openConnection } from './http-client.ts';

describe('failedRequest', () => {
  it('closes the connection when a response fails after its headers were sent, and reports once', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const bug = new Error('secret detail');
    const reported: unknown[] = [];
    const app = express()
      .set('env', 'production')
      .use((_request, response) => {
        response.write('part');
        throw bug;
      })
      .use(
        failedRequest(
          (error) => reported.push(error),
          () => undefined,
        ),
      );
    const server = await listen(app, [LOOPBACK]);
    onTestFinished(() => server.close(0));
    const { received } = openConnection(server.addresses[0]?.port ?? 0, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await received).not.toMatch(/secret detail|Internal error|0\r\n\r\n$/);
    expect(reported).toEqual([bug]);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});
