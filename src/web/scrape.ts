import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler } from 'express';
import type { Body } from '../exposition/exposition.ts';
import type { ExpositionFormat } from '../exposition/text-format.ts';
import { type Deadline, MAX_TIMER_MS, systemClock } from '../model/clock.ts';
import { noStation } from './data.ts';
import type { ExporterPort, WebOptions } from './port.ts';
import { isAbove } from './request-limit.ts';
import { limitResponseTime, RequestError } from './respond.ts';

/** All stations and the exporter's own metrics. */
export function scrapeAll(exporter: ExporterPort, options: WebOptions): RequestHandler {
  return scrapeEndpoint(options, (format, deadline) => exporter.scrape(format, undefined, deadline));
}

/** The station named by the query parameter `station`. A request without a valid one is not a scrape, and reaches no limit. */
export function scrapeStation(exporter: ExporterPort, options: WebOptions): RequestHandler {
  const scrape = scrapeEndpoint(options, (format, deadline, { query }) =>
    exporter.scrape(format, String(query['station']), deadline),
  );
  return (request, response, next) => {
    const { station } = request.query;
    if (typeof station !== 'string' || station === '')
      throw new RequestError(400, 'Expected one station parameter: /probe?station=NAME\n');
    if (!exporter.has(station)) throw noStation(exporter, station);
    return scrape(request, response, next);
  };
}

/** The exporter's own metrics alone. */
export function scrapeOwn(exporter: ExporterPort, options: WebOptions): RequestHandler {
  return scrapeEndpoint(options, (format) => exporter.scrapeOwn(format));
}

type Scrape = (format: ExpositionFormat, deadline: Deadline, request: Request) => Promise<Body>;

/** Each endpoint has its own limit of scrapes that wait for refreshes: /metrics is not affected by many probes. */
function scrapeEndpoint(options: WebOptions, scrape: Scrape): RequestHandler {
  let waiting = 0;
  return async (request, response) => {
    const format = expositionFormat(request);
    const isLimited = isAbove(options.maxRequests, waiting + 1);
    if (isLimited) options.observer.limitReached('max_requests', request.socket.remoteAddress);
    else waiting += 1;
    // Above the limit a scrape is answered at once from the cache.
    const waitMs = isLimited ? 0 : scrapeWaitMs(request.get('X-Prometheus-Scrape-Timeout-Seconds'), options);
    const body = await withinDeadline(request, waitMs, (deadline) => scrape(format, deadline, request)).finally(() => {
      if (!isLimited) waiting -= 1;
    });
    if (request.destroyed) return;
    response.setHeader('Content-Type', EXPOSITION_CONTENT_TYPES[format]);
    response.setHeader('Vary', 'Accept, Accept-Encoding');
    await writeBody(response, body, acceptsGzip(request));
  };
}

const EXPOSITION_CONTENT_TYPES: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Escaping schemes of Prometheus. Our names need none, but a media range matches only an offer that has all of its parameters. */
const ESCAPINGS = ['allow-utf-8', 'underscores', 'dots', 'values'];

/** Text comes first and wins when the client has no preference. */
const OFFERS: ReadonlyMap<string, ExpositionFormat> = new Map(
  (['text', 'openmetrics'] as const).flatMap((format) =>
    ESCAPINGS.map((escaping) => [`${EXPOSITION_CONTENT_TYPES[format]}; escaping=${escaping}`, format] as const),
  ),
);

/** Text for a client that accepts neither format: a scrape never fails because of its Accept header. */
export function expositionFormat(request: Pick<Request, 'accepts'>): ExpositionFormat {
  const best = request.accepts([...OFFERS.keys()]);
  return OFFERS.get(String(best)) ?? 'text';
}

/** Whether the client prefers gzip at least as much as no compression. */
export function acceptsGzip(request: Pick<Request, 'acceptsEncodings'>): boolean {
  return request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
}

/**
 * How long a scrape may wait for refreshes: the timeout announced by Prometheus minus the offset, else the default; it must be a positive
 * decimal number that a timer can hold. 0: respond at once from the cache.
 */
export function scrapeWaitMs(
  header: string | undefined,
  { scrapeTimeoutMs, timeoutOffsetMs }: Pick<WebOptions, 'scrapeTimeoutMs' | 'timeoutOffsetMs'>,
): number {
  const announcedMs = /^\d+(?:\.\d+)?$/.test(header ?? '') ? Number(header) * 1000 : 0;
  const isValid = announcedMs > 0 && announcedMs <= MAX_TIMER_MS;
  const waitMs = isValid ? Math.max(announcedMs - timeoutOffsetMs, 0) : scrapeTimeoutMs;
  return Math.min(waitMs, MAX_TIMER_MS);
}

/** Runs the work for so long, or until the client disconnects. */
export async function withinDeadline<T>(
  request: EventEmitter,
  waitMs: number,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const atMs = systemClock.elapsedMs() + waitMs;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (waitMs === 0) abort();
  const timer = setTimeout(abort, waitMs);
  request.once('close', abort);
  try {
    return await work({ atMs, signal: controller.signal });
  } finally {
    clearTimeout(timer);
    request.off('close', abort);
  }
}

/** Writes the body; bytes that are not shared no faster than the client reads them. */
export async function writeBody(
  response: ServerResponse,
  body: Body,
  gzip: boolean,
  timeoutMs?: number,
): Promise<void> {
  if (gzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', gzip ? body.gzipLength : body.plainLength);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  limitResponseTime(response, timeoutMs);
  if (gzip && !('encrypted' in response.req.socket)) {
    // In one write: all responses share the compressed bytes, and a slow client holds references only.
    response.cork();
    for (const chunk of body.gzip()) response.write(chunk);
    response.end();
    return;
  }
  await pipeline(gzip ? body.gzip() : body.plain(), response).catch((error) => {
    // A client that disconnects is not an error.
    if (!response.req.destroyed) throw error;
  });
}
