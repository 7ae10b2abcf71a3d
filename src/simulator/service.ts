import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type AuthCheck, TOKEN_PATH, tokenReply } from './auth.ts';
import { FaultRegistry } from './fault-plan.ts';
import type { Fault } from './faults.ts';
import { type RecordedPages, type RecordSource, replyTo, type SourceEntry } from './listing-reply.ts';
import { parseRequest, type RequestHead, type RequestOptions, splitTarget } from './listing-request.ts';
import { deliverReply } from './reply.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';

export interface ServiceOptions extends Partial<RequestOptions> {
  readonly source?: RecordSource;
  /** Takes precedence over the source for recorded requests. */
  readonly replay?: RecordedPages;
  /** By name of the telemetry station; '*': every station. */
  readonly faults?: Readonly<Record<string, readonly Fault[]>>;
  readonly auth?: AuthCheck;
  readonly defaultPageSize?: number;
  readonly pageCap?: number;
  /** Serves https. */
  readonly tls?: TlsOptions;
  readonly port?: number;
  /** Seed of the random choices of faults. */
  readonly seed?: number;
  readonly now?: () => number;
  /** Maximum length of `requests`. */
  readonly requestLogSize?: number;
}

type OAuth2Check = Extract<AuthCheck, { scheme: 'oauth2' }>;

export async function startSimulatedService(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = new SimulatedService(options);
  await service.restart();
  return service;
}

/** The simulated monitoring service on 127.0.0.1; stations are addressed by the name of the telemetry station. */
export class SimulatedService {
  readonly #options: ServiceOptions;
  readonly #now: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #faults: FaultRegistry;
  readonly #log: RequestLog;
  readonly #records = new Map<string, readonly SourceEntry[]>();
  #auth: AuthCheck | undefined;
  #port: number;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#auth = options.auth;
    this.#port = options.port ?? 0;
    this.#log = new RequestLog(options.requestLogSize ?? 10_000);
    this.#faults = new FaultRegistry(options.seed ?? 1);
    for (const [station, faults] of Object.entries(options.faults ?? {})) this.#faults.set(station, faults);
    this.#server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on('request', (request, response) => this.#serve(request, response));
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** The base URL for clients. */
  get url(): string {
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://127.0.0.1:${this.#port}${this.#options.pathPrefix ?? ''}`;
  }

  get requests(): readonly LoggedRequest[] {
    return this.#log.requests;
  }

  /** The maximum number of requests in flight: of one station, or of all stations together. */
  maxInFlight(station?: string): number {
    return this.#log.maxInFlight(station);
  }

  clearRequests(): void {
    this.#log.clear();
  }

  /** Replaces the faults of a station or of every station ('*'), and resets their request counts. */
  setFaults(station: string, faults: readonly Fault[]): void {
    this.#faults.set(station, faults);
  }

  /** Overrides the source. */
  setRecords(station: string, entries: readonly SourceEntry[]): void {
    this.#records.set(station, entries);
  }

  setAuth(auth: AuthCheck | undefined): void {
    this.#auth = auth;
  }

  /** Closes every connection and stops listening. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Keeps the port. */
  async restart(): Promise<void> {
    await this.stop();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const {
      pathPrefix = '',
      listStyle = 'repeat',
      defaultPageSize = 20,
      pageCap = Number.MAX_SAFE_INTEGER,
    } = this.#options;
    const atMs = this.#now();
    const head = { method: `${request.method}`, target: `${request.url}`, headers: request.headers };
    const listing = parseRequest(head, { pathPrefix, listStyle });
    const end = this.#log.begin(head, listing, atMs);
    response.once('close', end);
    response.setHeader('date', new Date(atMs).toUTCString());
    if (this.#auth?.scheme === 'oauth2' && splitTarget(head.target).path === `${pathPrefix}${TOKEN_PATH}`) {
      void this.#serveToken(this.#auth, request, response, head, end);
      return;
    }
    const options = { source: this.#source, replay: this.#options.replay, auth: this.#auth, defaultPageSize, pageCap };
    const reply = replyTo(head, listing, this.#faults.effects(listing, atMs), options, atMs);
    deliverReply({ socket: request.socket, response }, reply, end);
  }

  async #serveToken(
    auth: OAuth2Check,
    request: IncomingMessage,
    response: ServerResponse,
    head: RequestHead,
    end: () => void,
  ): Promise<void> {
    const form = await text(request).catch(() => undefined);
    // undefined: the client closed the connection.
    if (form === undefined) return;
    deliverReply(
      { socket: request.socket, response },
      tokenReply(auth, head, new URLSearchParams(form), this.#now()),
      end,
    );
  }

  readonly #source: RecordSource = (path, atMs) =>
    this.#records.get(path.telemetryStation) ?? this.#options.source?.(path, atMs);
}

/** Longer than any client keeps an idle connection, so that the service never closes one that is about to be used. */
const KEEP_ALIVE_MS = 120_000;
