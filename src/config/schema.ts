import * as z from 'zod';
import { FAMILY_NAMES } from '../metrics/catalogue.ts';
import { isObject } from '../station/resource.ts';
import { type CrossProblem, crossChecked, type Mapping } from './cross-check.ts';
import { suggestion } from './nearest.ts';
import { listed, MAX_SHOWN_PROBLEMS, quoted } from './problem.ts';
import { duration, integer, text, timerDuration } from './scalar-schemas.ts';
import { parseRid, station } from './station-schema.ts';
import { upstream } from './upstream-schema.ts';

const cache = z.strictObject({
  ttl: timerDuration.prefault('60s').describe('Serve a snapshot younger than this without querying the service.'),
  max_stale: duration.prefault('15m').describe('Serve the last successful snapshot for this long while refreshes fail.'),
  error_ttl: timerDuration.prefault('10s').describe('Minimum time before a failed station is refreshed again.'),
  refresh: z
    .enum(['scrape', 'background'])
    .prefault('scrape')
    .describe('When to refresh a snapshot older than `ttl`: `scrape`, on the next scrape; `background`, by a jittered timer.'),
});

const metrics = z.strictObject({
  per_resource: z.boolean().prefault(true).describe('Expose series for each resource.'),
  max_resources: integer(0)
    .prefault(100_000)
    .describe('Maximum number of resources per station; above it, per-resource series are withheld and aggregates stay exact.'),
  disabled: z
    .array(z.enum(FAMILY_NAMES, { error: 'the name of a metric family' }))
    .prefault([])
    .describe('Names of metric families to disable.'),
});

/** The single definition of the configuration: validation, defaults, JSON Schema and documentation derive from it. */
export const configSchema = crossChecked(
  z.strictObject(
    {
      upstreams: z.record(text, upstream, { error: 'a mapping with one entry per account' }).meta({
        description: 'Accounts of the service, by a name of your choice: one entry per account or credential, at least one.',
        minProperties: 1,
      }),
      stations: z
        .array(station, { error: 'a list of stations' })
        .min(1, { error: 'at least one station' })
        .describe('Telemetry stations to export, at least one.'),
      cache: cache.prefault({}).describe('Cache settings; stations can override them.'),
      metrics: metrics.prefault({}).describe('Metrics to expose.'),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'a mapping with the keys upstreams and stations' : undefined) },
  ),
  fleetProblems,
);

export type Config = z.output<typeof configSchema>;

interface Fleet {
  readonly upstreams?: unknown;
  readonly stations?: unknown;
  readonly cache?: unknown;
}

interface Entry {
  readonly index: number;
  readonly station: Mapping;
}

/** Problems between stations, upstreams and global settings. */
function* fleetProblems({ upstreams, stations, cache }: Fleet): Iterable<CrossProblem> {
  const entries = entriesOf(stations);
  yield* duplicateNames(entries);
  if (isObject(upstreams)) {
    if (Object.keys(upstreams).length === 0) yield { path: ['upstreams'], message: 'expected at least one upstream, got none' };
    yield* upstreamProblems(entries, upstreams);
  }
  if (isObject(cache)) yield* zeroTtlProblems(cache, entries);
}

function entriesOf(stations: unknown): readonly Entry[] {
  if (!Array.isArray(stations)) return [];
  return stations.flatMap((station: unknown, index) => (isObject(station) ? [{ index, station }] : []));
}

function* duplicateNames(entries: readonly Entry[]): Iterable<CrossProblem> {
  const owners = new Map<string, number>();
  for (const { index, station } of entries) {
    const { key, name } = nameOf(station);
    if (name === undefined) continue;
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, index);
    else yield { path: ['stations', index, key], message: `duplicate station name ${quoted(name)}, already used by stations[${owner}]` };
  }
}

/** The station's name and the key that defines it. */
function nameOf({ name, telemetry_station, rid }: Mapping): { readonly key: string; readonly name: string | undefined } {
  if (typeof name === 'string') return { key: 'name', name };
  if (typeof telemetry_station === 'string') return { key: 'telemetry_station', name: telemetry_station };
  return { key: 'rid', name: typeof rid === 'string' ? parseRid(rid)?.telemetry_station : undefined };
}

function* upstreamProblems(entries: readonly Entry[], upstreams: Mapping): Iterable<CrossProblem> {
  const names = Object.keys(upstreams);
  const missing = `missing, expected one of ${listed(names)}, because there are several upstreams`;
  let unknown = 0;
  for (const { index, station } of entries) {
    const { upstream, filters } = station;
    const name = upstream ?? (names.length === 1 ? names[0] : undefined);
    const path = ['stations', index, 'upstream'];
    if (upstream === undefined && names.length > 1) {
      yield { path, message: missing };
    } else if (typeof name === 'string' && Object.hasOwn(upstreams, name)) {
      if (isObject(filters) && listStyleOf(upstreams[name]) === 'comma') yield* commaProblems(index, filters);
    } else if (typeof upstream === 'string') {
      unknown += 1;
      // Later ones are not shown, and each suggestion compares all names.
      const hint = unknown <= MAX_SHOWN_PROBLEMS ? suggestion(upstream, names) : '';
      yield { path, message: `expected the name of an upstream, got ${quoted(upstream)}${hint}` };
    }
  }
}

function listStyleOf(upstream: unknown): unknown {
  if (!isObject(upstream)) return undefined;
  const { list_style } = upstream;
  return list_style;
}

/** With `list_style: comma` the service would split the entry. */
function* commaProblems(index: number, { resource_ids, resource_types }: Mapping): Iterable<CrossProblem> {
  for (const [key, entries] of Object.entries({ resource_ids, resource_types })) {
    if (!Array.isArray(entries)) continue;
    for (const [position, entry] of entries.entries()) {
      if (typeof entry !== 'string' || !entry.includes(',')) continue;
      const path = ['stations', index, 'filters', key, position];
      yield { path, message: 'expected no comma, because the upstream has list_style comma' };
    }
  }
}

/** A timer without a delay would refresh continuously. */
function* zeroTtlProblems(cache: Mapping, entries: readonly Entry[]): Iterable<CrossProblem> {
  const { refresh } = cache;
  if (refresh !== 'background') return;
  const message = 'expected more than 0 because cache.refresh is background, got 0';
  for (const key of ['ttl', 'error_ttl']) {
    if (cache[key] === 0) yield { path: ['cache', key], message };
    for (const { index, station } of entries) {
      const { cache: stationCache } = station;
      if (isObject(stationCache) && stationCache[key] === 0) yield { path: ['stations', index, 'cache', key], message };
    }
  }
}
