import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drainable } from './drain.ts';
import { listenAddress } from './listen-address.ts';

export interface RunningServer {
  /** Where it really listens, in the order asked for. */
  readonly addresses: readonly { readonly address: string; readonly port: number }[];
  /** Stops accepting, lets responses in flight finish, and cuts off what is left after the grace time. */
  close(graceMs: number): Promise<void>;
}

/** An idle connection outlives the usual minute between two scrapes, so that Prometheus need not connect anew for each. */
const CONNECTION_LIMITS: ServerOptions = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 120_000 };

/** Listens on all of the addresses or on none. */
export async function listen(handler: RequestListener, addresses: readonly string[], limits: ServerOptions = {}): Promise<RunningServer> {
  const running: RunningServer[] = [];
  const close = async (graceMs: number) => {
    await Promise.all(running.map((server) => server.close(graceMs)));
  };
  try {
    for (const address of addresses) running.push(await listenOn(address, handler, { ...CONNECTION_LIMITS, ...limits }));
  } catch (error) {
    await close(0);
    throw error;
  }
  return { addresses: running.flatMap((server) => server.addresses), close };
}

async function listenOn(address: string, handler: RequestListener, limits: ServerOptions): Promise<RunningServer> {
  const server = createServer(limits, handler);
  const close = drainable(server);
  server.listen(listenAddress(address));
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on "${address}": ${error.message}`, { cause: error });
  });
  // Only a server on a pipe has another kind of address.
  const bound = server.address() as AddressInfo;
  return { addresses: [{ address: bound.address, port: bound.port }], close };
}
