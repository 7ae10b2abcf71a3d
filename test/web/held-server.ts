import type { RequestListener, ServerResponse } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import { listen } from '../../src/web/server.ts';
import { eventually } from './eventually.ts';
import { LOOPBACK } from './http-client.ts';

export const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export const hello: RequestListener = (_request, response) => response.end('hello');

/** A server on two ports, with the limits it reached and the number of its connections. */
export async function startServer(handler: RequestListener, options: Parameters<typeof listen>[2] = {}) {
  const reached: unknown[][] = [];
  let open = 0;
  const observer = {
    limitReached: (...limit: unknown[]) => reached.push(limit),
    connections: (count: number) => {
      open = count;
    },
  };
  const server = await listen(handler, [LOOPBACK, LOOPBACK], { ...options, observer });
  onTestFinished(() => server.close(0));
  const [port = 0, otherPort = 0] = server.addresses.map((address) => address.port);
  const opened = (count: number) => eventually(() => expect(open).toBe(count));
  return { server, port, otherPort, reached, opened };
}

/** A server whose responses the test ends. */
export async function startHeld(options?: Parameters<typeof listen>[2]) {
  const held: ServerResponse[] = [];
  return { ...(await startServer((_request, response) => held.push(response), options)), held };
}
