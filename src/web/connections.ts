import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from './client-network.ts';
import type { WebObserver } from './port.ts';
import { isAbove } from './request-limit.ts';

export interface ConnectionLimits {
  /** Open connections; 0: no limit. */
  readonly maxConnections: number;
  /** Open connections of one client address; 0: no limit. */
  readonly maxConnectionsPerAddress: number;
}

interface Connection {
  readonly key: string;
  readonly client: string;
  /** The TCP socket; with TLS, the one above it from the first request on. */
  socket: Socket;
  /** Of the request that is being handled, and of the pipelined ones that wait for it. */
  readonly responses: ServerResponse[];
}

/** Clients that pipeline requests are rare; each waiting request holds its headers. */
const MAX_PIPELINED = 10;

/** The connections of all servers, within limits. Handles the requests of a connection one after another. */
export class Connections {
  readonly #handle: RequestListener;
  readonly #limits: ConnectionLimits;
  readonly #observer: WebObserver | undefined;
  /** Idle ones in the order in which they became idle. */
  readonly #open = new Map<string, Connection>();
  #isDraining = false;

  constructor(handle: RequestListener, limits: ConnectionLimits, observer: WebObserver | undefined) {
    this.#handle = handle;
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Admits only connections within the limits to the server, and handles its requests. */
  guard(server: Server): void {
    const listeners = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of listeners) listener.call(server, socket);
      else socket.destroy();
    });
    server.on('request', (_request, response) => this.#add(response));
  }

  /** Closes idle connections at once, and the others after their responses in flight. */
  drain(): void {
    this.#isDraining = true;
    for (const { socket, responses } of this.#open.values()) {
      for (const response of responses) closeAfterResponse(response);
      if (responses.length === 0) socket.destroySoon();
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #admit(socket: Socket): boolean {
    // The client has already disconnected.
    if (socket.remoteAddress === undefined) return false;
    const client = clientNetwork(socket.remoteAddress);
    const all = [...this.#open.values()];
    const own = all.filter((connection) => connection.client === client);
    if (isAbove(this.#limits.maxConnectionsPerAddress, own.length + 1)) {
      this.#observer?.limitReached('max_connections_per_address', client);
      if (!this.#closeIdle(own)) return false;
    }
    if (isAbove(this.#limits.maxConnections, this.#open.size + 1)) {
      this.#observer?.limitReached('max_connections', client);
      if (!this.#closeIdle(all)) return false;
    }
    const connection = { key: keyOf(socket), client, socket, responses: [] };
    this.#open.set(connection.key, connection);
    this.#observer?.connections(this.#open.size);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Closes the connection that has been idle for the longest time: idle connections never keep new clients out. */
  #closeIdle(connections: readonly Connection[]): boolean {
    const idle = connections.find(({ responses }) => responses.length === 0);
    if (idle === undefined) return false;
    this.#forget(idle);
    idle.socket.destroy();
    return true;
  }

  /** Handles a pipelined request when the response before it is sent: unread responses of one connection hold the memory of one. */
  #add(response: ServerResponse): void {
    const { req: request } = response;
    const { socket } = request;
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined || socket.destroyed) return;
    const { responses, client } = connection;
    if (responses.length > MAX_PIPELINED) {
      this.#observer?.limitReached('pipelined_requests', client);
      socket.destroy();
      return;
    }
    connection.socket = socket;
    if (this.#isDraining) closeAfterResponse(response);
    // Emitted after the response, and also when the connection closes before it is sent.
    request.once('close', () => this.#next(connection));
    responses.push(response);
    if (responses.length === 1) this.#handle(request, response);
  }

  #next(connection: Connection): void {
    const { key, socket, responses } = connection;
    responses.shift();
    // The connection is closed, or closes after this response: no client reads the others.
    if (socket.destroyed || socket.writableEnded) responses.length = 0;
    const [next] = responses;
    if (next) {
      this.#handle(next.req, next);
    } else if (this.#isOpen(connection)) {
      this.#open.delete(key);
      this.#open.set(key, connection);
      if (this.#isDraining) socket.destroySoon();
    }
  }

  #forget(connection: Connection): void {
    if (!this.#isOpen(connection)) return;
    this.#open.delete(connection.key);
    this.#observer?.connections(this.#open.size);
  }

  #isOpen(connection: Connection): boolean {
    return this.#open.get(connection.key) === connection;
  }
}

/** Has no effect once the headers are sent; the connection is then closed when it becomes idle. */
function closeAfterResponse(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** The same for a TLS socket and the TCP socket below it. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
