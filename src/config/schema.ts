import * as z from 'zod';
import { isObject, labelText } from '../model/values.ts';
import type { ConfigPath } from '../schema/config-path.ts';
import { type CrossProblem, crossChecked, listOf, type Mapping } from '../schema/cross-check.ts';
import { duration, integer, nonEmptyText, optionalKey } from '../schema/scalar-schemas.ts';
import { upstream } from '../service/upstream-schema.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { absentFieldKeys } from './absent-field-keys.ts';
import { links } from './link-schema.ts';
import { cache, metrics } from './overridable-settings.ts';
import { listed } from './problem.ts';
import { resourceLabels } from './resource-label-schema.ts';
import { states } from './state-schema.ts';
import { parseRid, station } from './station-schema.ts';

const coverage = z.strictObject({
  within: optionalKey(duration, 'Age above which resources that are not covered are overdue (default: none).'),
});

/** Far more series than Prometheus should get of one family. */
const MAX_LABEL_VALUES = 100_000;

const limits = z.strictObject({
  label_values: integer(1, MAX_LABEL_VALUES)
    .prefault(1000)
    .describe(
      'Maximum number of values per station of each label that the service supplies (`resource_type`, `state`, `gpu_model`, `unit`); aggregates and counters publish further ones as `(other)`.',
    ),
  records_per_station: optionalKey(
    integer(1),
    'Maximum number of records of one station; above it, the refresh fails (default: three quarters of `records`). In listings of products and of alertable resources, three records count as one: 9,000 resources of one product count as 12,000.',
  ),
  records: optionalKey(
    integer(1),
    'Maximum number of records of all stations; above it, refreshes of the largest stations fail (default: derived from the heap limit of Node.js).',
  ),
  changes_per_station: integer(100)
    .prefault(1000)
    .describe(
      'Maximum number of changes to keep per station: this many removed resources and this many other changes.',
    ),
  changes: integer(0)
    .prefault(10_000)
    .describe('The same for all stations together; above it, the stations with the most changes lose their oldest.'),
});

/** An upstream with what its records mean. A schema that is extended loses what the JSON Schema has of it. */
const upstreamWithRecords = upstream.safeExtend(absentFieldKeys).meta({ ...upstream.meta() });

const stations = z.array(station, { error: 'a list of stations' });

const stationFile = nonEmptyText
  .refine((path) => !path.replace(/[^/]*$/, '').includes('*'), {
    error: 'expected * only in the last part of the path',
  })
  .meta({ pattern: '^(?:[^*]*/)?[^/]*$' });

/** The single definition of the configuration: validation, defaults, JSON Schema and documentation derive from it. */
export const configSchema = crossChecked(
  z.strictObject(
    {
      upstreams: z.record(nonEmptyText, upstreamWithRecords, { error: 'a mapping with one entry per account' }).meta({
        description:
          'Accounts of the service, by a name of your choice: one entry per account or credential, at least one.',
        minProperties: 1,
      }),
      stations: stations
        .prefault([])
        .describe('Telemetry stations to export; at least one, unless there are `station_files`.'),
      station_files: z
        .array(stationFile)
        .prefault([])
        .describe('Files with further stations, each a list of entries as in `stations`.'),
      cache: cache.prefault({}).describe('Cache settings; stations can override all but `refresh`.'),
      metrics: metrics.prefault({}).describe('Metrics to expose.'),
      limits: limits.prefault({}).describe('Limits on the data that the exporter keeps.'),
      resource_labels: resourceLabels
        .prefault([])
        .describe('Labels of resources, such as their owners, and resources that need no alert rules.'),
      coverage: coverage.prefault({}).describe('When resources must be covered by alert rules.'),
      states: states
        .prefault({})
        .describe(
          'Meanings of the states that the service sends. A state in no list means the first of `firing`, `pending` and `inactive` that its name contains, ignoring case, or else `unknown`.',
        ),
      links: links
        .prefault([])
        .describe('Links to other tools on the pages of stations and resources, such as dashboards.'),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'a mapping with the keys upstreams and stations' : undefined) },
  ),
  fleetProblems,
);

export type Config = z.output<typeof configSchema>;

/** A station file, checked against the upstreams and the global settings of the configuration, which may be invalid themselves. */
export function stationFileSchema(settings: Omit<FleetConfig, 'stations'>): typeof stations {
  return crossChecked(stations, (list) => stationProblems({ ...settings, stations: list }, []), Array.isArray);
}

interface FleetConfig {
  readonly upstreams?: unknown;
  readonly stations?: unknown;
  readonly station_files?: unknown;
  readonly cache?: unknown;
}

function* fleetProblems(fleet: FleetConfig): Iterable<CrossProblem> {
  const { upstreams, stations, station_files } = fleet;
  const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
  if (isObject(upstreams) && Object.keys(upstreams).length === 0)
    yield { path: ['upstreams'], message: 'expected at least one upstream, got none' };
  if (isEmptyList(stations) && isEmptyList(station_files))
    yield { path: ['stations'], message: 'expected at least one station, or station_files, got none' };
  yield* zeroTtlProblems(fleet.cache, fleet.cache, ['cache']);
  yield* stationProblems(fleet, ['stations']);
}

/** `path`: of the list. */
function* stationProblems({ upstreams, stations, cache }: FleetConfig, path: ConfigPath): Iterable<CrossProblem> {
  const checkUpstream = isObject(upstreams) ? upstreamCheck(upstreams) : () => [];
  for (const [index, station] of listOf(stations).entries()) {
    if (!isObject(station)) continue;
    yield* checkUpstream(station, [...path, index]);
    yield* zeroTtlProblems(cache, station['cache'], [...path, index, 'cache']);
  }
}

/** In the background, stations would be refreshed without an end. */
function* zeroTtlProblems(cache: unknown, settings: unknown, path: ConfigPath): Iterable<CrossProblem> {
  if (!isObject(cache) || cache['refresh'] !== 'background' || !isObject(settings)) return;
  const message = 'expected more than 0 because cache.refresh is background, got 0';
  for (const key of ['ttl', 'error_ttl']) if (settings[key] === 0) yield { path: [...path, key], message };
}

/** The station's name as a label value, which must be unique, and the key that defines it. */
export function stationNameOf({ name, telemetry_station, rid }: Mapping): {
  readonly key: string;
  readonly name: string | undefined;
} {
  if (typeof name === 'string') return { key: 'name', name: labelText(name) };
  if (typeof telemetry_station === 'string') return { key: 'telemetry_station', name: labelText(telemetry_station) };
  const parts = typeof rid === 'string' ? parseRid(rid) : undefined;
  return { key: 'rid', name: parts && labelText(parts.telemetry_station) };
}

function upstreamCheck(upstreams: Mapping) {
  const names = Object.keys(upstreams);
  const missing = `missing, expected one of ${listed(names)}, because there are several upstreams`;
  return function* ({ upstream }: Mapping, station: ConfigPath): Iterable<CrossProblem> {
    const path = [...station, 'upstream'];
    if (upstream === undefined && names.length > 1) yield { path, message: missing };
    if (typeof upstream === 'string' && !Object.hasOwn(upstreams, upstream)) {
      const hint = suggestion(upstream, names);
      yield { path, message: `expected the name of an upstream, got ${quoted(upstream)}${hint}` };
    }
  };
}
