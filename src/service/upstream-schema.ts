import * as z from 'zod';
import { crossChecked } from '../schema/cross-check.ts';
import { integer, serviceUrl, size, timeoutDuration } from '../schema/scalar-schemas.ts';
import { EITHER_PROXY, HTTP_CLIENT_KEYS, httpClientProblems } from './http-client-schema.ts';

/** One request in a quarter of an hour: the wait for the next one has to fit into a timer. */
const MIN_REQUESTS_PER_SECOND = 0.001;

const RATE = `a number of at least ${MIN_REQUESTS_PER_SECOND}, or 0 for no limit`;

export const upstream = crossChecked(
  z.strictObject({
    base_url: serviceUrl.describe('Base URL of the service, optionally with a path prefix.'),
    timeout: timeoutDuration.prefault('10s').describe('Timeout of one HTTP request, including the response body.'),
    refresh_timeout: timeoutDuration
      .prefault('2m')
      .describe(
        'Timeout of one refresh of a station, including all its listings, without the time in which requests wait for admission.',
      ),
    concurrency: integer(1, 1000).prefault(8).describe('Maximum number of concurrent requests to this upstream.'),
    requests_per_second: z
      .number({ error: RATE })
      .min(0, { error: RATE, abort: true })
      .refine((rate) => rate === 0 || rate >= MIN_REQUESTS_PER_SECOND, { error: `expected ${RATE}` })
      .meta({ anyOf: [{ const: 0 }, { minimum: MIN_REQUESTS_PER_SECOND }] })
      .prefault(0)
      .describe(
        'Maximum request rate to this upstream; 0 means no limit. A 429 response temporarily lowers the rate further, and its Retry-After pauses all requests.',
      ),
    max_retries: integer(0, 20).prefault(2).describe('Maximum number of retries of a failed request.'),
    page_size: integer(1, 10_000).prefault(100).describe('Number of resources to request per page.'),
    max_page_bytes: size
      .prefault('16MiB')
      .describe(
        'Maximum size of a response body, decompressed; a larger one is an error, as is a page of more than about 80,000 records.',
      ),
    list_style: z
      .enum(['repeat', 'comma'])
      .prefault('repeat')
      .describe(
        'Encoding of list parameters: `repeat` the parameter for each entry, or separate entries, which have none themselves, by `comma`.',
      ),
    ...HTTP_CLIENT_KEYS,
  }),
  httpClientProblems,
).meta(EITHER_PROXY);
