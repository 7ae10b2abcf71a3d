import type { IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TlsOptions as ServerTlsOptions, TLSSocket } from 'node:tls';
import { createHttpServer, listen } from './service.ts';

/** A minimal CONNECT proxy, with a configurable status. */
export async function startProxy(tls?: ServerTlsOptions, status = 200) {
  const tunnels: { target: string; headers: IncomingHttpHeaders; shownName: string }[] = [];
  /** Sent to the proxy itself instead of through a tunnel. */
  const requests: string[] = [];
  const server = createHttpServer(tls);
  server.on('request', (request, response) => {
    requests.push(String(request.url));
    response.end();
  });
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const target = String(request.url);
    tunnels.push({ target, headers: request.headers, shownName: shownName(socket) });
    socket.on('error', () => undefined);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host, port] = target.split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  const port = await listen(server);
  return { url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`), tunnels, requests };
}

/** The common name in the client certificate. */
export function shownName(socket: Socket): string {
  const certificate = socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;
  return String(certificate?.subject?.CN ?? 'none');
}
