import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebObserver } from './port.ts';
import { isAbove } from './request-limit.ts';

interface Connection {
  readonly key: string;
  /** The TCP socket; with TLS, the one above it from the first request on. */
  socket: Socket;
  /** Those that are not sent yet; without any the connection is idle. */
  readonly responses: Set<ServerResponse>;
}

/** Requests that a connection may have sent without waiting for a response; hardly any client sends more than one. */
const MAX_PIPELINED = 4;

/** The open connections of all servers, within a limit. */
export class Connections {
  /** 0: no limit. */
  readonly #max: number;
  readonly #observer: WebObserver | undefined;
  /** Idle ones in the order in which they became idle. */
  readonly #open = new Map<string, Connection>();
  #isDraining = false;

  constructor(max: number, observer: WebObserver | undefined) {
    this.#max = max;
    this.#observer = observer;
  }

  /** Calls the handler for one request of a connection at a time: Node does so for all that a client has sent. */
  guard(server: Server, handler: RequestListener): void {
    server.on('connection', (socket) => this.#admit(socket));
    server.on('request', (request, response) => {
      this.#begin(response);
      // A response gets the socket when those before it are sent.
      if (response.socket) handler(request, response);
      else
        response.once('socket', (socket) => {
          if (!socket.destroyed) handler(request, response);
        });
    });
  }

  /** Closes idle connections at once, and the others after their responses in flight. */
  drain(): void {
    this.#isDraining = true;
    for (const { socket, responses } of this.#open.values()) {
      for (const response of responses) closeAfterResponse(response);
      if (responses.size === 0) socket.destroySoon();
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Above the limit, a new connection closes the one that has been idle for the longest time: idle ones never keep new clients out. */
  #admit(socket: Socket): void {
    // The client has already disconnected.
    if (socket.remoteAddress === undefined) return;
    if (isAbove(this.#max, this.#open.size + 1)) {
      this.#observer?.limitReached('max_connections', socket.remoteAddress);
      const idle = [...this.#open.values()].find(({ responses }) => responses.size === 0);
      if (idle === undefined) {
        socket.destroy();
        return;
      }
      this.#open.delete(idle.key);
      idle.socket.destroy();
    }
    const connection = { key: keyOf(socket), socket, responses: new Set<ServerResponse>() };
    this.#open.set(connection.key, connection);
    socket.once('close', () => {
      if (this.#isOpen(connection)) this.#open.delete(connection.key);
    });
  }

  #begin(response: ServerResponse): void {
    const { socket } = response.req;
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return;
    connection.socket = socket;
    if (connection.responses.size >= MAX_PIPELINED) {
      this.#observer?.limitReached('pipelined_requests', socket.remoteAddress);
      socket.destroy();
      return;
    }
    connection.responses.add(response);
    if (this.#isDraining) closeAfterResponse(response);
    response.once('close', () => this.#end(connection, response));
  }

  #end(connection: Connection, response: ServerResponse): void {
    connection.responses.delete(response);
    if (connection.responses.size > 0 || !this.#isOpen(connection)) return;
    this.#open.delete(connection.key);
    this.#open.set(connection.key, connection);
    if (this.#isDraining) connection.socket.destroySoon();
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
