import type { Request } from 'express';
import type { ExpositionFormat } from '../metrics/encoding.ts';

export const CONTENT_TYPES: Readonly<Record<ExpositionFormat, string>> = {
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
