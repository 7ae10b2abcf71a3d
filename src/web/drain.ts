import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Watches a server's connections from its start on, and gives the function that ends it: no new connections, idle ones closed,
 * each other one closed after its responses are through, and after the grace time cut off.
 */
export function drainable(server: Server): (graceMs: number) => Promise<void> {
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
