import type { EventEmitter } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import type { ExpositionFormat } from '../metrics/text-format.ts';
import { MAX_TIMER_MS } from '../station/clock.ts';
import { writeBody } from './body.ts';
import type { ExporterPort } from './port.ts';
import { sendText } from './respond.ts';

/** All stations and the exporter's own metrics. */
export function scrapeAll(exporter: ExporterPort, options: DeadlineOptions): RequestHandler {
  return (request, response) => answerScrape(exporter, options, undefined, request, response);
}

/** The one station that the query names. */
export function scrapeStation(exporter: ExporterPort, options: DeadlineOptions): RequestHandler {
  return async (request, response) => {
    const { station } = request.query;
    if (typeof station !== 'string' || station === '') {
      sendText(response, 400, 'Name one station: /probe?station=NAME\n');
    } else if (exporter.station(station) === undefined) {
      sendText(response, 404, 'No station of that name is configured here.\n');
    } else {
      await answerScrape(exporter, options, station, request, response);
    }
  };
}

async function answerScrape(
  exporter: ExporterPort,
  options: DeadlineOptions,
  station: string | undefined,
  request: Request,
  response: Response,
): Promise<void> {
  const format = expositionFormat(request);
  const deadlineMs = scrapeDeadlineMs(request.get('X-Prometheus-Scrape-Timeout-Seconds'), options);
  const body = await withinDeadline(request, deadlineMs, (signal) => exporter.scrape(format, station, signal));
  response.setHeader('Content-Type', CONTENT_TYPES[format]);
  response.setHeader('Vary', 'Accept, Accept-Encoding');
  await writeBody(response, body, wantsGzip(request));
}

const CONTENT_TYPES: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/**
 * How Prometheus may want names escaped that are not of the classic form. All of ours are, so each way gives the same bytes;
 * but a media range matches only what is offered with all of its parameters.
 */
const ESCAPINGS = ['allow-utf-8', 'underscores', 'dots', 'values'];

/** Text first: it wins where the client does not care. */
const OFFERS: ReadonlyMap<string, ExpositionFormat> = new Map(
  (['text', 'openmetrics'] as const).flatMap((format) =>
    ESCAPINGS.map((escaping) => [`${CONTENT_TYPES[format]}; escaping=${escaping}`, format] as const),
  ),
);

/** A client that accepts neither format gets text: a scrape never fails over its Accept header. */
export function expositionFormat(request: Pick<Request, 'accepts'>): ExpositionFormat {
  const best = request.accepts([...OFFERS.keys()]);
  return OFFERS.get(String(best)) ?? 'text';
}

/** Compressed where the client likes that at least as much as the plain bytes. */
export function wantsGzip(request: Pick<Request, 'acceptsEncodings'>): boolean {
  return request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
}

export interface DeadlineOptions {
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
}

/** How long a scrape may take: what Prometheus grants less the offset, else the default. 0: answer at once from what is there. */
export function scrapeDeadlineMs(header: string | undefined, options: DeadlineOptions): number {
  const grantedMs = grantedTimeoutMs(header);
  const deadlineMs = grantedMs === undefined ? options.scrapeTimeoutMs : grantedMs - options.timeoutOffsetMs;
  return Math.min(Math.max(deadlineMs, 0), MAX_TIMER_MS);
}

/** Runs the work with a signal that aborts at the deadline, or sooner when the client goes away. */
export async function withinDeadline<T>(request: EventEmitter, deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (deadlineMs === 0) abort();
  const timer = setTimeout(abort, deadlineMs);
  request.once('close', abort);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    request.off('close', abort);
  }
}

/** undefined when the header is missing, no plain positive number, or more than any timer holds. */
function grantedTimeoutMs(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d+(?:\.\d+)?$/.test(header)) return undefined;
  const ms = Number(header) * 1000;
  return ms > 0 && ms <= MAX_TIMER_MS ? ms : undefined;
}
