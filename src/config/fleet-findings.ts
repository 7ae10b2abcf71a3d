import { type CrossFinding, isMapping, type Mapping } from './cross-check.ts';
import { suggestion } from './nearest.ts';
import { quoted } from './quoted.ts';
import { parseRid } from './station-path.ts';

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
export function* fleetFindings({ upstreams, stations, cache }: Fleet): Iterable<CrossFinding> {
  const entries = entriesOf(stations);
  yield* namesTwice(entries);
  if (isMapping(upstreams)) {
    if (Object.keys(upstreams).length === 0) yield { path: ['upstreams'], message: 'found no upstream, expected at least one' };
    for (const entry of entries) yield* upstreamFindings(entry, upstreams);
  }
  if (isMapping(cache)) yield* restlessCaches(cache, entries);
}

function entriesOf(stations: unknown): readonly Entry[] {
  if (!Array.isArray(stations)) return [];
  return stations.flatMap((station: unknown, index) => (isMapping(station) ? [{ index, station }] : []));
}

function* namesTwice(entries: readonly Entry[]): Iterable<CrossFinding> {
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

function* upstreamFindings({ index, station }: Entry, upstreams: Mapping): Iterable<CrossFinding> {
  const { upstream, filters } = station;
  const names = Object.keys(upstreams);
  const name = upstream ?? (names.length === 1 ? names[0] : undefined);
  const path = ['stations', index, 'upstream'];
  if (upstream === undefined && names.length > 1) {
    yield { path, message: `missing, expected one of ${names.map(quoted).join(', ')}, because there are several upstreams` };
  } else if (typeof name === 'string' && Object.hasOwn(upstreams, name)) {
    if (isMapping(filters) && listStyleOf(upstreams[name]) === 'comma') yield* commas(index, filters);
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
function* commas(index: number, { resource_ids, resource_types }: Mapping): Iterable<CrossFinding> {
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
function* restlessCaches(cache: Mapping, entries: readonly Entry[]): Iterable<CrossFinding> {
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
