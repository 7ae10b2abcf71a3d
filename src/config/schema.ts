import * as z from 'zod';
import { FAMILY_NAMES } from '../metrics/catalogue.ts';
import { type CrossProblem, crossChecked, isMapping, type Mapping } from './cross-check.ts';
import { suggestion } from './nearest.ts';
import { quoted } from './problem.ts';
import { duration, text, timerDuration, wholeNumber } from './scalar-schemas.ts';
import { parseRid, station } from './station-schema.ts';
import { upstream } from './upstream-schema.ts';

interface Fleet {
  readonly upstreams?: unknown;
  readonly stations?: unknown;
  readonly cache?: unknown;
}

interface Entry {
  readonly index: number;
  readonly station: Mapping;
}

/** The mistakes that show only when stations are compared with one another, with the upstreams and with the global settings. */
function* fleetProblems({ upstreams, stations, cache }: Fleet): Iterable<CrossProblem> {
  const entries = entriesOf(stations);
  yield* duplicateNames(entries);
  if (isMapping(upstreams)) {
    if (Object.keys(upstreams).length === 0) yield { path: ['upstreams'], message: 'found no upstream, expected at least one' };
    for (const entry of entries) yield* upstreamProblems(entry, upstreams);
  }
  if (isMapping(cache)) yield* zeroTtlProblems(cache, entries);
}

function entriesOf(stations: unknown): readonly Entry[] {
  if (!Array.isArray(stations)) return [];
  return stations.flatMap((station: unknown, index) => (isMapping(station) ? [{ index, station }] : []));
}

function* duplicateNames(entries: readonly Entry[]): Iterable<CrossProblem> {
  const owners = new Map<string, number>();
  for (const { index, station } of entries) {
    const { key, name } = nameOf(station);
    if (name === undefined) continue;
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, index);
    else yield { path: ['stations', index, key], message: `stations[${owner}] has the name ${quoted(name)} already, expected another one` };
  }
}

/** The name of the station, and the key that gives it. */
function nameOf({ name, telemetry_station, rid }: Mapping): { readonly key: string; readonly name: string | undefined } {
  if (typeof name === 'string') return { key: 'name', name };
  if (typeof telemetry_station === 'string') return { key: 'telemetry_station', name: telemetry_station };
  return { key: 'rid', name: typeof rid === 'string' ? parseRid(rid)?.telemetry_station : undefined };
}

function* upstreamProblems({ index, station }: Entry, upstreams: Mapping): Iterable<CrossProblem> {
  const { upstream, filters } = station;
  const names = Object.keys(upstreams);
  const name = upstream ?? (names.length === 1 ? names[0] : undefined);
  const path = ['stations', index, 'upstream'];
  if (upstream === undefined && names.length > 1) {
    yield { path, message: `missing, expected one of ${names.map(quoted).join(', ')}, because there are several upstreams` };
  } else if (typeof name === 'string' && Object.hasOwn(upstreams, name)) {
    if (isMapping(filters) && listStyleOf(upstreams[name]) === 'comma') yield* commaProblems(index, filters);
  } else if (typeof upstream === 'string') {
    yield { path, message: `found ${quoted(upstream)}, expected the name of an upstream${suggestion(upstream, names)}` };
  }
}

function listStyleOf(upstream: unknown): unknown {
  if (!isMapping(upstream)) return undefined;
  const { list_style } = upstream;
  return list_style;
}

/** An entry with a comma would be read as two. */
function* commaProblems(index: number, { resource_ids, resource_types }: Mapping): Iterable<CrossProblem> {
  for (const [key, entries] of Object.entries({ resource_ids, resource_types })) {
    if (!Array.isArray(entries)) continue;
    for (const [position, entry] of entries.entries()) {
      if (typeof entry !== 'string' || !entry.includes(',')) continue;
      const path = ['stations', index, 'filters', key, position];
      yield { path, message: 'found a comma, expected none, because the upstream has list_style comma' };
    }
  }
}

/** Without a pause a timer would never rest. */
function* zeroTtlProblems(cache: Mapping, entries: readonly Entry[]): Iterable<CrossProblem> {
  const { refresh } = cache;
  if (refresh !== 'background') return;
  const message = 'found 0, expected more than 0, because cache.refresh is background';
  for (const key of ['ttl', 'error_ttl']) {
    if (cache[key] === 0) yield { path: ['cache', key], message };
    for (const { index, station } of entries) {
      const { cache: stationCache } = station;
      if (isMapping(stationCache) && stationCache[key] === 0) yield { path: ['stations', index, 'cache', key], message };
    }
  }
}

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
  fleetProblems,
);

export type Config = z.output<typeof configSchema>;
