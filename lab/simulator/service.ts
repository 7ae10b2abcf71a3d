import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { changedBy, type DrawnFaults, type Fault, faultDraw, type ListingBody } from './faults.ts';
import { type ListingRequest, parseRequest, type SimulatedPath, type SourceEntry, selectRecords } from './listing.ts';
import { compressedReply, deliverReply, jsonReply, type SimulatedReply, statusReply } from './reply.ts';

/** The records of a station; undefined: unknown station. */
export type RecordSource = (path: SimulatedPath, atMs: number) => readonly SourceEntry[] | undefined;

/** Read with every request. */
export interface ServiceOptions {
  readonly source: RecordSource;
  /** The recorded body for exactly this request, which takes precedence over the source; undefined: not recorded. */
  readonly replay?: (request: ListingRequest) => ListingBody | undefined;
  /** The faults of a request, in this order; undefined: one that is not a valid listing request. */
  readonly faults: (request: ListingRequest | undefined) => readonly Fault[];
  readonly server?: Server;
  readonly port?: number;
  /** Seed of the random choices of faults. */
  readonly seed?: number;
  readonly now?: () => number;
  /** Compress replies as a gateway in front of the service. */
  readonly compression?: boolean;
}

export interface SimulatedService {
  /** The base URL for clients. */
  readonly url: string;
  /** Closes every connection and stops listening. */
  stop(): Promise<void>;
}

/** Longer than any client keeps an idle connection, so that the service never closes one that is about to be used. */
const KEEP_ALIVE_MS = 120_000;

/** Starts the simulated monitoring service on 127.0.0.1. */
export async function startSimulatedService(options: ServiceOptions): Promise<SimulatedService> {
  const { server = createServer(), port = 0, seed = 1 } = options;
  const draw = faultDraw(seed);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('request', (request, response) => answer(options, draw, request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

function answer(
  options: ServiceOptions,
  draw: ReturnType<typeof faultDraw>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { faults, now = Date.now, compression = false } = options;
  const atMs = now();
  response.setHeader('date', new Date(atMs).toUTCString());
  const parsed = parseRequest(request);
  const listing = 'path' in parsed ? parsed : undefined;
  const drawn = draw(faults(listing), `${listing?.path.telemetry_station}`, atMs);
  const reply = changedBy(drawn, 'reply', healthyReply(options, parsed, drawn, atMs));
  deliverReply(response, compression ? compressedReply(request, reply) : reply);
}

function healthyReply(
  { source, replay }: ServiceOptions,
  request: ListingRequest | SimulatedReply,
  drawn: DrawnFaults,
  atMs: number,
): SimulatedReply {
  if (!('path' in request)) return request;
  const { path } = request;
  const entries = source(path, atMs);
  if (entries === undefined)
    return statusReply(404, `telemetry station ${JSON.stringify(path.telemetry_station)} not found`);
  // A recorded body cannot show the effect of a fault on the request or the listing.
  const isChanged = drawn.faults.some(({ page, listing }) => page ?? listing);
  const recorded = isChanged ? undefined : replay?.(request);
  return jsonReply(200, changedBy(drawn, 'body', recorded ?? listingPage(entries, request, drawn)));
}

/** A page of the records that match the filters. */
function listingPage(entries: readonly SourceEntry[], requested: ListingRequest, drawn: DrawnFaults): ListingBody {
  const { filters, offset, size } = changedBy(drawn, 'page', requested);
  const selected = selectRecords(entries, filters);
  const { records, total } = changedBy(drawn, 'listing', { records: selected, total: selected.length, requested });
  return { resources: records.slice(offset, offset + size), page: { offset, size, total } };
}
