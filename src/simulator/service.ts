import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type AuthCheck, authProblem, TOKEN_PATH, tokenReply } from './auth.ts';
import { changedBy, type Fault, type FaultEffect, type FaultPlan, faultPlan, type ListingBody } from './faults.ts';
import { listingPage, type SourceEntry } from './listing-page.ts';
import {
  type ListingRequest,
  parseRequest,
  type ReceivedRequest,
  type RequestHead,
  type RequestOptions,
  type StationPath,
} from './listing-request.ts';
import { deliverReply, jsonReply, type SimulatedReply, statusReply } from './reply.ts';

/** The records of a station; undefined: unknown station. */
export type RecordSource = (path: StationPath, atMs: number) => readonly SourceEntry[] | undefined;

export interface ServiceOptions extends RequestOptions {
  readonly source?: RecordSource;
  /** The recorded body for exactly this request, which takes precedence over the source; undefined: not recorded. */
  readonly replay?: (request: ListingRequest) => ListingBody | undefined;
  /** By name of the telemetry station; '*': every station, and requests that match none. */
  readonly faults?: Readonly<Record<string, readonly Fault[]>>;
  readonly auth?: AuthCheck | undefined;
  /** Serves https. */
  readonly tls?: TlsOptions;
  readonly port?: number;
  /** Seed of the random choices of faults. */
  readonly seed?: number;
  readonly now?: () => number;
}

/** A request as the service received it. */
interface LoggedRequest extends ReceivedRequest, Partial<ListingRequest> {
  readonly atMs: number;
}

const EVERY_STATION = '*';
const MAX_LOGGED = 10_000;

/** Longer than any client keeps an idle connection, so that the service never closes one that is about to be used. */
const KEEP_ALIVE_MS = 120_000;

export async function startSimulatedService(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = new SimulatedService(options);
  await service.restart();
  return service;
}

/** The simulated monitoring service on 127.0.0.1; stations are addressed by the name of the telemetry station. */
export class SimulatedService {
  readonly #options: ServiceOptions;
  readonly #server: Server;
  readonly #plans = new Map<string, FaultPlan>();
  readonly #records = new Map<string, readonly SourceEntry[]>();
  readonly #requests: LoggedRequest[] = [];
  #auth: AuthCheck | undefined;
  #port: number;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#auth = options.auth;
    this.#port = options.port ?? 0;
    for (const [station, faults] of Object.entries(options.faults ?? {})) this.setFaults(station, faults);
    this.#server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** The base URL for clients. */
  get url(): string {
    const { tls, pathPrefix = '' } = this.#options;
    return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}${pathPrefix}`;
  }

  /** The latest requests in order of arrival. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  clearRequests(): void {
    this.#requests.length = 0;
  }

  /** Replaces the faults of a station or of every station ('*'), and resets their request counts. */
  setFaults(station: string, faults: readonly Fault[]): void {
    this.#plans.set(station, faultPlan(faults, this.#options.seed ?? 1));
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
    this.#server.closeAllConnections();
    await closed;
  }

  /** Keeps the port. */
  async restart(): Promise<void> {
    await this.stop();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { now = Date.now, pathPrefix = '' } = this.#options;
    const atMs = now();
    const { method, url: target = '', headers } = request;
    const rawPath = target.replace(/\?.*$/s, '');
    const query = new URLSearchParams(target.slice(rawPath.length));
    const received = { method: `${method}`, target, headers, rawPath, query };
    const listing = parseRequest(received, this.#options);
    this.#requests.push({ ...received, ...('path' in listing && listing), atMs });
    this.#requests.splice(0, this.#requests.length - MAX_LOGGED);
    response.setHeader('date', new Date(atMs).toUTCString());
    if (this.#auth && 'oauth2' in this.#auth && rawPath === pathPrefix + TOKEN_PATH) {
      const form = await text(request).catch(() => undefined);
      // undefined: the client closed the connection.
      if (form !== undefined)
        deliverReply(response, tokenReply(this.#auth.oauth2, received, new URLSearchParams(form), atMs));
      return;
    }
    const effects = this.#effects(listing, atMs);
    const healthy = this.#healthyReply(received, listing, effects, atMs);
    deliverReply(response, changedBy(effects, 'reply', healthy));
  }

  /** Faults of every station first, then the station's own. */
  #effects(request: ListingRequest | SimulatedReply, atMs: number): readonly FaultEffect[] {
    const matched = 'path' in request ? request : { station: EVERY_STATION, filters: {}, offset: 0 };
    return [...new Set([EVERY_STATION, matched.station])].flatMap((key) => this.#plans.get(key)?.(matched, atMs) ?? []);
  }

  #healthyReply(
    head: RequestHead,
    request: ListingRequest | SimulatedReply,
    effects: readonly FaultEffect[],
    atMs: number,
  ): SimulatedReply {
    const problem = this.#auth && authProblem(this.#auth, head, atMs);
    if (problem !== undefined) return jsonReply(401, { message: problem });
    if (!('path' in request)) return request;
    const { path, station } = request;
    const entries = this.#records.get(station) ?? this.#options.source?.(path, atMs);
    if (entries === undefined) return statusReply(404, `telemetry station ${JSON.stringify(station)} not found`);
    // A recorded body cannot show the effect of a fault on the request or the listing.
    const isChanged = effects.some((effect) => effect.page ?? effect.listing);
    const recorded = isChanged ? undefined : this.#options.replay?.(request);
    const body = recorded ?? listingPage(entries, request, effects);
    return jsonReply(200, changedBy(effects, 'body', body));
  }
}
