import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TlsRules } from './access/rules.ts';
import { createSecureServer } from './access/secure-server.ts';
import { drainable } from './drain.ts';
import { listenAddress } from './listen-address.ts';

export interface RunningServer {
  /** Where it really listens, in the order asked for. */
  readonly addresses: readonly { readonly address: string; readonly port: number }[];
  /** New connections follow these rules; those there are end with their next answer. */
  secure(rules: TlsRules): void;
  /** Stops accepting, lets responses in flight finish, and cuts off what is left after the grace time. */
  close(graceMs: number): Promise<void>;
}

interface ListenOptions {
  /** Left out: connections are plain, and stay so. */
  readonly tls?: TlsRules | undefined;
  readonly limits?: ConnectionLimits;
}

interface ConnectionLimits extends ServerOptions {
  readonly maxConnections?: number;
  readonly maxRequestsPerSocket?: number;
}

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than the usual minute between two scrapes, so that Prometheus need not connect anew for each.
  keepAliveTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 2048,
  // Bounds what a client can send ahead without taking answers.
  maxRequestsPerSocket: 100,
} satisfies ConnectionLimits;

/** Listens on all of the addresses or on none. */
export async function listen(handler: RequestListener, addresses: readonly string[], options: ListenOptions = {}): Promise<RunningServer> {
  const running: RunningServer[] = [];
  const close = async (graceMs: number) => {
    await Promise.all(running.map((server) => server.close(graceMs)));
  };
  try {
    for (const address of addresses) running.push(await listenOn(address, handler, options));
  } catch (error) {
    await close(0);
    throw error;
  }
  return {
    addresses: running.flatMap((server) => server.addresses),
    secure: (rules) => {
      for (const server of running) server.secure(rules);
    },
    close,
  };
}

async function listenOn(address: string, handler: RequestListener, { tls, limits }: ListenOptions): Promise<RunningServer> {
  const options = { ...LIMITS, ...limits };
  const { server, secure } =
    tls === undefined ? { server: createServer(options, handler), secure: () => {} } : createSecureServer(options, tls, handler);
  server.maxConnections = options.maxConnections;
  server.maxRequestsPerSocket = options.maxRequestsPerSocket;
  // Node would invite the client to go on with a body that is refused.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  const close = drainable(server);
  server.listen(listenAddress(address));
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on "${address}": ${error.message}`, { cause: error });
  });
  // Only a server on a pipe has another kind of address.
  const { address: host, port } = server.address() as AddressInfo;
  return { addresses: [{ address: host, port }], secure, close };
}
