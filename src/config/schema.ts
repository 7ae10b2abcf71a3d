import * as z from 'zod';
import { FAMILY_NAMES } from '../metrics/family-names.ts';
import { crossChecked } from './cross-check.ts';
import { fleetFindings } from './fleet-findings.ts';
import { duration, text, timerDuration, wholeNumber } from './scalar-schemas.ts';
import { station } from './station-schema.ts';
import { upstream } from './upstream-schema.ts';

const cache = z.strictObject({
  ttl: timerDuration.prefault('60s').describe('A younger snapshot is served without asking the service.'),
  max_stale: duration.prefault('15m').describe('How long the last good snapshot is served while refreshes fail.'),
  error_ttl: timerDuration.prefault('10s').describe('A failed station is not asked again sooner.'),
  refresh: z
    .enum(['scrape', 'background'])
    .prefault('scrape')
    .describe('Who refreshes what is older than `ttl`: `scrape`, a scrape; `background`, a jittered timer.'),
});

const metrics = z.strictObject({
  per_resource: z.boolean().prefault(true).describe('Publish series for each resource.'),
  max_resources: wholeNumber(0)
    .prefault(100_000)
    .describe('Per station; above it the series for each resource are withheld, the aggregates stay exact.'),
  disabled: z
    .array(z.enum(FAMILY_NAMES, { error: 'the name of a metric family' }))
    .prefault([])
    .describe('Families that are not published, by name.'),
});

/** The only definition of the configuration: its checks, its defaults, its JSON Schema and its documentation come from here. */
export const configSchema = crossChecked(
  z.strictObject(
    {
      upstreams: z.record(text, upstream, { error: 'a mapping with one entry per account' }).meta({
        description: 'Where resources are listed: one entry per account or credential, by a name of your own. At least one.',
        minProperties: 1,
      }),
      stations: z
        .array(station, { error: 'a list of stations' })
        .min(1, { error: 'at least one station' })
        .describe('The telemetry stations to watch. At least one.'),
      cache: cache.prefault({}).describe('How long snapshots are trusted: the defaults of every station.'),
      metrics: metrics.prefault({}).describe('What is published.'),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'a mapping with the keys upstreams and stations' : undefined) },
  ),
  fleetFindings,
);

export type Config = z.output<typeof configSchema>;
