import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from './client-network.ts';
import type { WebObserver } from './options.ts';
import { isAbove } from './request-limit.ts';

export interface ConnectionLimits {
  /** Open connections; 0: no limit. */
  readonly maxConnections: number;
  /** Open connections of one client address; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
}

interface Connection {
  readonly key: string;
  readonly socket: Socket;
  readonly client: string;
  /** The request that is being handled, and the pipelined ones that wait for its response. */
  readonly requests: (() => void)[];
}

/** Clients that pipeline requests are rare; each waiting request holds its headers. */
const MAX_PIPELINED = 10;

/** The connections of all servers, within limits. Handles the requests of a connection one after another. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #observer: WebObserver | undefined;
  /** Idle ones in the order in which they became idle. */
  readonly #open = new Map<string, Connection>();
  readonly #perClient = new Map<string, number>();

  constructor(limits: ConnectionLimits, observer: WebObserver | undefined) {
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Passes only connections within the limits to the server. */
  guard(server: Server): void {
    const listeners = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of listeners) listener.call(server, socket);
      else socket.destroy();
    });
  }

  /** Handles a pipelined request when the response before it is sent: unread responses of one connection hold the memory of one. */
  oneByOne(handle: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      const connection = this.#open.get(keyOf(socket));
      if (connection === undefined || socket.destroyed) return;
      const { requests, client } = connection;
      if (requests.length > MAX_PIPELINED) {
        this.#observer?.limitReached('pipelined_requests', client);
        socket.destroy();
        return;
      }
      // Emitted after the response, and also when the connection closes before it is sent.
      request.once('close', () => this.#next(connection, socket));
      requests.push(() => handle(request, response));
      if (requests.length === 1) requests[0]?.();
    };
  }

  #admit(socket: Socket): boolean {
    // The client has already disconnected.
    if (socket.remoteAddress === undefined) return false;
    const client = clientNetwork(socket.remoteAddress);
    if (isAbove(this.#limits.maxConnectionsPerAddress, this.#countOf(client) + 1)) {
      this.#observer?.limitReached('max_connections_per_address', client);
      if (!this.#closeIdle((connection) => connection.client === client)) return false;
    }
    if (isAbove(this.#limits.maxConnections, this.#open.size + 1)) {
      this.#observer?.limitReached('max_connections', client);
      if (!this.#closeIdle(() => true)) return false;
    }
    const connection = { key: keyOf(socket), socket, client, requests: [] };
    this.#open.set(connection.key, connection);
    this.#perClient.set(client, this.#countOf(client) + 1);
    this.#observer?.connections(this.#open.size);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Closes the connection that has been idle for the longest time: idle connections never keep new clients out. */
  #closeIdle(isCandidate: (connection: Connection) => boolean): boolean {
    const idle = [...this.#open.values()].find(
      (connection) => connection.requests.length === 0 && isCandidate(connection),
    );
    if (idle === undefined) return false;
    this.#forget(idle);
    idle.socket.destroy();
    return true;
  }

  #next(connection: Connection, socket: Socket): void {
    const { requests } = connection;
    requests.shift();
    // The connection is closed, or closes after this response: no client reads the others.
    if (socket.destroyed || socket.writableEnded) requests.length = 0;
    const [next] = requests;
    if (next) {
      next();
    } else if (this.#isOpen(connection)) {
      this.#open.delete(connection.key);
      this.#open.set(connection.key, connection);
    }
  }

  #forget(connection: Connection): void {
    if (!this.#isOpen(connection)) return;
    const { key, client } = connection;
    this.#open.delete(key);
    const left = this.#countOf(client) - 1;
    if (left > 0) this.#perClient.set(client, left);
    else this.#perClient.delete(client);
    this.#observer?.connections(this.#open.size);
  }

  #countOf(client: string): number {
    return this.#perClient.get(client) ?? 0;
  }

  #isOpen(connection: Connection): boolean {
    return this.#open.get(connection.key) === connection;
  }
}

/** The same for a TLS socket and the TCP socket below it. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
