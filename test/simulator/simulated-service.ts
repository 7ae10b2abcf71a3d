import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import { gzipSync } from 'node:zlib';
import { delivered, type Fault, replyWith } from '../../lab/simulator/faults.ts';
import { type ListingRequest, parseRequest, type SourceEntry } from '../../lab/simulator/listing.ts';
import { between } from '../../lab/simulator/random.ts';
import * as simulator from '../../lab/simulator/service.ts';
import { type AuthCheck, authProblem } from './auth.ts';

/** `requests` are those of the station since faults were set, this one included. */
export type Condition = (request: ListingRequest, requests: readonly ListingRequest[]) => boolean;

export interface TestFault extends Fault {
  readonly when?: Condition;
}

/** By name of the telemetry station; '*': every station, and requests that match none. */
type StationFaults = Readonly<Record<string, readonly TestFault[]>>;

export interface ServiceOptions extends Partial<Omit<simulator.ServiceOptions, 'faults' | 'server'>> {
  readonly faults?: StationFaults;
  /** The credentials that requests must have; undefined: none. */
  readonly auth?: AuthCheck | undefined;
  readonly tls?: TlsOptions;
}

interface ReceivedRequest extends Pick<IncomingMessage, 'method' | 'headers'>, Partial<ListingRequest> {
  readonly target: string;
  readonly station?: string;
}

export type SimulatedService = Awaited<ReturnType<typeof startSimulatedService>>;

/** The simulated service, which logs its requests, and whose records and faults can be changed. */
export async function startSimulatedService(options: ServiceOptions = {}) {
  const { tls, auth, now = Date.now } = options;
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const requests: ReceivedRequest[] = [];
  let rejection: readonly TestFault[] = [];
  server.on('request', (request: IncomingMessage) => {
    const { method, url: target = '', headers } = request;
    const listing = parseRequest(request);
    const known = 'path' in listing && { ...listing, station: listing.path.telemetry_station };
    requests.push({ method, target, headers, ...known });
    const problem = auth && authProblem(auth, request, now());
    rejection = problem === undefined ? [] : [replyWith(401, {}, JSON.stringify({ message: problem }))];
  });
  const records = new Map<string, readonly SourceEntry[]>();
  const faults = new Map(Object.entries(options.faults ?? {}));
  const requested = new Map<string, ListingRequest[]>();
  const service = await simulator.startSimulatedService({
    ...options,
    server,
    source: (path, atMs) => records.get(path.telemetry_station) ?? options.source?.(path, atMs),
    faults(request) {
      // Called right after the listener above, for the same request.
      const everywhere = [...rejection, ...(faults.get('*') ?? [])];
      if (request === undefined) return everywhere;
      const station = request.path.telemetry_station;
      const all = [...(requested.get(station) ?? []), request];
      requested.set(station, all);
      return [...everywhere, ...(faults.get(station) ?? [])].filter(({ when }) => when?.(request, all) ?? true);
    },
  });
  const { port } = new URL(service.url);
  const stop = async () => {
    if (server.listening) await service.stop();
  };
  return {
    url: tls === undefined ? service.url : service.url.replace('http', 'https'),
    /** In order of arrival. */
    requests,
    clearRequests: () => requests.splice(0),
    /** Replaces the faults of a station or of every station ('*'). */
    setFaults(station: string, changed: readonly TestFault[]) {
      faults.set(station, changed);
      requested.clear();
    },
    /** Overrides the source. */
    setRecords: (station: string, entries: readonly SourceEntry[]) => records.set(station, entries),
    stop,
    /** Keeps the port. */
    async restart() {
      await stop();
      server.listen(Number(port), '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

export const first =
  (count: number): Condition =>
  (_, requests) =>
    requests.length <= count;

export const inFirstListing: Condition = (_, requests) => requests.filter(({ offset }) => offset === 0).length === 1;

export const headersOnly = delivered((response, { status, headers }) =>
  response.writeHead(status, { ...headers, 'content-length': 9 }).flushHeaders(),
);

export const gzip: Fault = {
  reply: ({ headers, body }) => ({ headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }),
};

/** undefined: the page has no total. */
export const reportedTotal = (total: unknown): Fault => ({
  body: ({ page }) => ({ page: page && { ...page, total } }),
});

/** The total grows from page to page. */
export const movingTotal: Fault = {
  listing: ({ total, requested }) => ({ total: total + Math.ceil(requested.offset / requested.size) }),
};

export const missingPage: Fault = { body: () => ({ page: undefined }) };

export const fixedSize = (size: number): Fault => ({ page: () => ({ size }) });

/** The page holds all remaining records. */
export const ignoredSize = fixedSize(Number.MAX_SAFE_INTEGER);

/** A page holds between one record and the requested size. */
export const shortPages: Fault = { page: ({ size }, random) => ({ size: between(random, 1, size) }) };

export const ignoredOffset: Fault = { page: () => ({ offset: 0 }) };

/** Every tenth record of the listing appears twice, and the total includes the duplicates. */
export const countedDuplicates: Fault = {
  listing: (listing) => {
    const records = listing.records.flatMap((record, at) => (at % 10 === 9 ? [record, record] : [record]));
    return { records, total: listing.total + records.length - listing.records.length };
  },
};

/** Every nth record of the listing appears twice, unknown to the total. */
export const uncountedDuplicates = (every: number): Fault => ({
  listing: ({ records }) => ({
    records: records.flatMap((record, at) => ((at + 1) % every === 0 ? [record, record] : [record])),
  }),
});

/** Rows are inserted at the head after the first page, so that later pages overlap; by default the total includes them. */
export const rowShift = (rows: readonly unknown[], counted = rows.length): Fault => ({
  listing: ({ records, total, requested }) =>
    requested.offset === 0 ? {} : { records: [...rows, ...records], total: total + counted },
});

/** An empty list is null. */
export const nullResources: Fault = {
  body: ({ resources }) => (resources?.length === 0 ? { resources: null } : {}),
};
