import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveMethods } from './child.ts';
import { type HostileShape, hostileReply } from './hostile-shapes.ts';

export interface HostileServiceMethods {
  start(): number;
  /** What every further request is answered with; undefined: an empty listing. */
  setShape(shape?: HostileShape): void;
}

const EMPTY = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{"resources":[]}');

let reply: Buffer = EMPTY;

serveMethods({
  start: async () => {
    // Written to the socket, because Node refuses to write such headers.
    const server = createServer((request) => request.socket.end(reply));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
  setShape: (shape?: HostileShape) => {
    reply = shape === undefined ? EMPTY : hostileReply(shape);
  },
});
