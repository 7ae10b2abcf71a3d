import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, vitals } from './child.ts';

export interface StaticMethods {
  /** Serves a buffer of this many bytes that cannot be compressed, from bare node:http. */
  start(bytes: number): number;
  cpu(): number;
}

answer({
  ...vitals,
  start: async (bytes: number) => {
    const body = Buffer.alloc(bytes, 'x');
    const server = createServer((_request, response) => response.writeHead(200, { 'Content-Length': body.length }).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
});
