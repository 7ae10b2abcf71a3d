import type { Request, RequestHandler, Response } from 'express';
import { writeBody } from './body.ts';
import { type DeadlineOptions, scrapeDeadlineMs, withinDeadline } from './deadline.ts';
import { CONTENT_TYPES, expositionFormat, wantsGzip } from './negotiation.ts';
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
