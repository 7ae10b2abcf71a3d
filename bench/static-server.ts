import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { processStats, serveMethods } from './child.ts';

export interface StaticMethods {
  /** Serves a buffer of this many bytes with node:http, uncompressed. */
  start(bytes: number): number;
  cpu(): number;
}

serveMethods({
  ...processStats,
  start: async (bytes: number) => {
    const body = Buffer.alloc(bytes, 'x');
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Length': body.length }).end(body),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
});
