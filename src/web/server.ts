import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { type AddressInfo, isIPv6, type ListenOptions as NetListenOptions, type Socket } from 'node:net';
import type { TlsRules } from './access/rules.ts';
import { createSecureServer } from './access/secure-server.ts';

export interface RunningServer {
  /** Where it really listens, in the order asked for. */
  readonly addresses: readonly { readonly address: string; readonly port: number }[];
  /** New connections follow these rules; those there are end with their next answer. */
  secure(rules: TlsRules): void;
  /** Stops accepting, lets responses in flight finish, and cuts off what is left after the grace time. */
  close(graceMs: number): Promise<void>;
}

/** Without a host, all interfaces. */
type ListenAddress = Pick<NetListenOptions, 'host' | 'port'>;

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
export async function listen(
  handler: RequestListener,
  addresses: readonly ListenAddress[],
  options: ListenOptions = {},
): Promise<RunningServer> {
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

async function listenOn(address: ListenAddress, handler: RequestListener, { tls, limits }: ListenOptions): Promise<RunningServer> {
  const options = { ...LIMITS, ...limits };
  const { server, secure } =
    tls === undefined ? { server: createServer(options, handler), secure: () => {} } : createSecureServer(options, tls, handler);
  server.maxConnections = options.maxConnections;
  server.maxRequestsPerSocket = options.maxRequestsPerSocket;
  // Node would invite the client to go on with a body that is refused.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  const close = drainable(server);
  server.listen(address);
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on "${addressText(address)}": ${error.message}`, { cause: error });
  });
  // Only a server on a pipe has another kind of address.
  const { address: host, port } = server.address() as AddressInfo;
  return { addresses: [{ address: host, port }], secure, close };
}

/**
 * Watches a server's connections from its start on, and gives the function that ends it: no new connections, idle ones closed,
 * each other one closed after its responses are through, and after the grace time cut off.
 */
function drainable(server: Server): (graceMs: number) => Promise<void> {
  const sockets = openOnes(server, 'connection');
  // A request knows the encrypted connection, not the socket below it.
  const connections = server instanceof SecureServer ? openOnes(server, 'secureConnection') : sockets;
  const inFlight = new Map<IncomingMessage, ServerResponse>();
  let draining = false;

  const endIfIdle = (socket: Socket) => {
    if (![...inFlight.keys()].some((request) => request.socket === socket)) socket.destroySoon();
  };
  server.prependListener('request', (request, response) => {
    inFlight.set(request, response);
    if (draining) announceEnd(response);
    // The request closes after its response, and also when the connection breaks before a pipelined response had its turn.
    request.once('close', () => {
      inFlight.delete(request);
      if (draining) endIfIdle(request.socket);
    });
  });
  // Node's own way takes a response for done once it was handed over, and would cut what the client has yet to read.
  server.closeIdleConnections = () => {};

  return async (graceMs) => {
    draining = true;
    const closed = once(server, 'close');
    server.close();
    for (const response of inFlight.values()) announceEnd(response);
    for (const socket of connections) endIfIdle(socket);
    const cutOff = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(cutOff);
  };
}

function openOnes(server: Server, opened: 'connection' | 'secureConnection'): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on(opened, (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** Tells the client not to send another request; too late for that once the headers are out. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** As it is written in `--web.listen-address`. */
function addressText({ host = '', port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
