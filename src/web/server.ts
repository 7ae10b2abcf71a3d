import { once } from 'node:events';
import type { RequestListener, ServerOptions } from 'node:http';
import { type AddressInfo, isIPv6, type ListenOptions as NetListenOptions } from 'node:net';
import { getBuiltinModule } from 'node:process';
import type { TlsRules } from './access/rules.ts';
import { createSecureServer, type UpdatableServer } from './access/secure-server.ts';
import { Connections } from './connections.ts';
import type { WebObserver } from './port.ts';

// Not an import, which reads every export of node:http, and with it loads the WebSocket and fetch of Node 22 and later.
const { createServer } = getBuiltinModule('node:http');

export interface RunningServer {
  /** The bound addresses, in the order of the configured ones. */
  readonly addresses: readonly AddressInfo[];
  /** Applies to new connections; open ones are closed after their next response. */
  updateTls(rules: TlsRules): void;
  /** Stops accepting connections, lets responses in flight finish, and closes the rest after the grace period. */
  close(graceMs: number): Promise<void>;
}

/** Without a host, all interfaces. */
type ListenAddress = Pick<NetListenOptions, 'host' | 'port'>;

interface ListenOptions {
  /** Without it the server speaks plain HTTP and cannot be switched to TLS. */
  readonly tls?: TlsRules | undefined;
  readonly limits?: Partial<ServerLimits>;
  readonly observer?: WebObserver;
}

type ServerLimits = ServerOptions & {
  /** Open connections of all addresses together; 0: no limit. */
  readonly maxConnections: number;
};

const DEFAULT_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than the usual scrape interval, so that Prometheus can reuse its connection.
  keepAliveTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 2048,
} satisfies ServerLimits;

/** Enough for all targets of a Prometheus at once; the system may have a lower limit. */
const BACKLOG = 2048;

/** Listens on all of the addresses or on none. */
export async function listen(
  handler: RequestListener,
  addresses: readonly ListenAddress[],
  options: ListenOptions = {},
): Promise<RunningServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const connections = new Connections(limits.maxConnections, options.observer);
  const running: UpdatableServer[] = [];
  const close = async (graceMs: number) => {
    const closed = running.map(({ server }) => once(server.close(), 'close'));
    connections.drain();
    const timer = setTimeout(() => connections.closeAll(), graceMs);
    await Promise.all(closed);
    clearTimeout(timer);
  };
  try {
    for (const address of addresses) running.push(await listenOn(address, handler, connections, limits, options.tls));
  } catch (error) {
    await close(0);
    throw error;
  }
  return {
    // A string only for a server on a pipe.
    addresses: running.map(({ server }) => server.address() as AddressInfo),
    updateTls: (rules) => {
      for (const { updateTls } of running) updateTls(rules);
    },
    close,
  };
}

async function listenOn(
  address: ListenAddress,
  handler: RequestListener,
  connections: Connections,
  limits: ServerLimits,
  tls: TlsRules | undefined,
): Promise<UpdatableServer> {
  const { server, updateTls } =
    tls === undefined ? { server: createServer(limits), updateTls: () => {} } : createSecureServer(limits, tls);
  connections.guard(server, handler);
  // Node considers a response complete once it is handed to the socket, and would discard what the client has not read yet.
  server.closeIdleConnections = () => {};
  server.listen({ ...address, backlog: BACKLOG });
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on "${addressText(address)}": ${error.message}`, { cause: error });
  });
  return { server, updateTls };
}

/** As it is written in `--web.listen-address`. */
function addressText({ host = '', port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
