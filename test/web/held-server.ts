import type { RequestListener, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from '../../src/web/server.ts';
import { LOOPBACK } from './http-client.ts';

export const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export const hello: RequestListener = (_request, response) => response.end('hello');

/** A server on two ports, with the limits it reached. */
export async function startServer(handler: RequestListener, options: Parameters<typeof listen>[2] = {}) {
  const reached: unknown[][] = [];
  const observer = { limitReached: (...limit: unknown[]) => reached.push(limit) };
  const server = await listen(handler, [LOOPBACK, LOOPBACK], { ...options, observer });
  onTestFinished(() => server.close(0));
  const [port = 0, otherPort = 0] = server.addresses.map((address) => address.port);
  return { server, port, otherPort, reached };
}

/** A server whose responses the test ends. */
export async function startHeld(options?: Parameters<typeof listen>[2]) {
  const held: ServerResponse[] = [];
  return { ...(await startServer((_request, response) => held.push(response), options)), held };
}
