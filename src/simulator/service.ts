import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type AuthCheck, answer, type Entry, type Replay, type Source } from './answer.ts';
import { type CallRules, readCall } from './call.ts';
import { deliver } from './delivery.ts';
import { FaultRegistry } from './fault-plan.ts';
import type { Fault } from './faults.ts';
import { RequestLog, type SeenRequest } from './request-log.ts';

export interface ServiceOptions extends Partial<CallRules> {
  readonly source?: Source;
  /** Goes before the source where it knows the question. */
  readonly replay?: Replay;
  /** By telemetry station's name, or '*' for every one. */
  readonly faults?: Readonly<Record<string, readonly Fault[]>>;
  readonly auth?: AuthCheck;
  readonly defaultPageSize?: number;
  readonly pageCap?: number;
  /** With it the service speaks https. */
  readonly tls?: TlsOptions;
  readonly port?: number;
  /** Decides whatever faults leave to chance. */
  readonly seed?: number;
  readonly now?: () => number;
  /** How many requests `requests` keeps. */
  readonly keptRequests?: number;
}

export async function startSimulatedService(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = new SimulatedService(options);
  await service.restart();
  return service;
}

/** The monitoring service on a port of 127.0.0.1. Stations go by their telemetry station's name. */
export class SimulatedService {
  readonly #options: ServiceOptions;
  readonly #now: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #faults: FaultRegistry;
  readonly #log: RequestLog;
  readonly #records = new Map<string, readonly Entry[]>();
  #auth: AuthCheck | undefined;
  #port: number;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#auth = options.auth;
    this.#port = options.port ?? 0;
    this.#log = new RequestLog(options.keptRequests ?? 10_000);
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

  /** What the client's base URL has to be. */
  get url(): string {
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://127.0.0.1:${this.#port}${this.#options.pathPrefix ?? ''}`;
  }

  get requests(): readonly SeenRequest[] {
    return this.#log.seen;
  }

  /** The most requests ever seen in flight at once: of one station, or of all together. */
  maxInFlight(station?: string): number {
    return this.#log.maxInFlight(station);
  }

  clearRequests(): void {
    this.#log.clear();
  }

  /** Replaces the faults of a station, or those of every one ('*'), and starts their counts anew. */
  setFaults(station: string, faults: readonly Fault[]): void {
    this.#faults.set(station, faults);
  }

  /** From now on the station has these records, whatever the source says. */
  setRecords(station: string, entries: readonly Entry[]): void {
    this.#records.set(station, entries);
  }

  setAuth(auth: AuthCheck | undefined): void {
    this.#auth = auth;
  }

  /** Drops every connection; from now on connections are refused. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Stops, and serves again on the same port. */
  async restart(): Promise<void> {
    await this.stop();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathPrefix = '', listStyle = 'repeat', defaultPageSize = 20, pageCap = Number.MAX_SAFE_INTEGER } = this.#options;
    const atMs = this.#now();
    const message = { method: `${request.method}`, target: `${request.url}`, headers: request.headers };
    const call = readCall(message, { pathPrefix, listStyle });
    const over = this.#log.begin(message, call, atMs);
    response.once('close', over);
    response.setHeader('date', new Date(atMs).toUTCString());
    const rules = { source: this.#source, replay: this.#options.replay, auth: this.#auth, defaultPageSize, pageCap };
    const reply = answer(message, call, this.#faults.effects(call, atMs), rules, atMs);
    deliver({ socket: request.socket, response }, reply, over);
  }

  readonly #source: Source = (path, atMs) => this.#records.get(path.telemetryStation) ?? this.#options.source?.(path, atMs);
}

/** Longer than any client keeps a connection idle, so that it is never closed under a request. */
const KEEP_ALIVE_MS = 120_000;
