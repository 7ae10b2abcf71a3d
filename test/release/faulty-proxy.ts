import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Requests that match are answered with 500, or 403. */
export interface Fault {
  readonly method: string;
  readonly path: RegExp;
  /** After the registry has carried the request out, instead of before it has seen it. */
  readonly after?: boolean;
  readonly denied?: boolean;
}

/** Forwards requests to a registry, with at most one fault at a time. */
export class FaultyProxy {
  readonly host: string;
  readonly #server: Server;
  #fault: Fault | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FaultyProxy(server);
    server.on('request', (req, res) => proxy.#forward(req, res, new URL(target)));
    return proxy;
  }

  /** Clients repeat requests that fail, so the fault stays until the next call. */
  set(fault: Fault | undefined): void {
    this.#fault = fault;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #forward(req: IncomingMessage, res: ServerResponse, { hostname, port }: URL): void {
    const fault = this.#fault;
    const fails = fault !== undefined && fault.method === req.method && fault.path.test(req.url ?? '');
    if (fails && !fault.after) {
      req.resume();
      const [status, code] = fault.denied ? [403, 'DENIED'] : [500, 'UNKNOWN'];
      const body = JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] });
      res.writeHead(status, { connection: 'close', 'content-type': 'application/json' }).end(body);
      return;
    }
    // The registries write links to themselves with the name that the client used.
    const { method, url: path, headers } = req;
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      if (fails) {
        response.resume();
        res.writeHead(500, { connection: 'close' }).end('injected');
        return;
      }
      res.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    req.pipe(forwarded);
  }
}
