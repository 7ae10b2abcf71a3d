import { Document } from 'yaml';
import * as z from 'zod';
import type { StationPath } from '../model/listing.ts';
import { StateMeanings } from '../resources/alert-state.ts';
import { type LabelEntry, ResourceLabels } from '../resources/resource-labels.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ListingFilters } from '../resources/station-keys.ts';
import { type Config, configSchema } from './schema.ts';
import { stateLists } from './state-schema.ts';
import { parseRid } from './station-schema.ts';

type StationConfig = Config['stations'][number];

export function resolveStations(config: Config): readonly ResourceSpec[] {
  const shared = {
    resourceLabels: new ResourceLabels(config.resource_labels.map(withIndex)),
    states: new StateMeanings(stateLists(config.states)),
  };
  return config.stations.map((station) => resolveStation(station, config, shared));
}

/** Only where pages show it: the labels of other entries stay the same when one is inserted before them. */
function withIndex(entry: Config['resource_labels'][number], index: number): LabelEntry {
  return entry.alertable === undefined ? entry : { ...entry, index };
}

function resolveStation(
  station: StationConfig,
  { upstreams, cache, coverage, metrics, limits }: Config,
  { resourceLabels, states }: Pick<ResourceSpec, 'resourceLabels' | 'states'>,
): ResourceSpec {
  // The schema guarantees a rid or all four parts, and a known or single upstream.
  const { subscription, resource_group, zone, telemetry_station } =
    parseRid(station.rid ?? '') ?? (station as StationPath);
  const upstream = (station.upstream ?? Object.keys(upstreams)[0]) as string;
  const { refresh_timeout, absent_fields } = upstreams[upstream] as Config['upstreams'][string];
  const name = station.name ?? telemetry_station;
  const { ttl, max_stale, error_ttl, refresh } = { ...cache, ...station.cache };
  const { per_resource, max_resources, max_firing_resources, disabled } = { ...metrics, ...station.metrics };
  return {
    name,
    upstream,
    path: { subscription, resource_group, zone, telemetry_station },
    filters: resolveFilters(station.filters),
    products: [...new Set(station.products)],
    alertability: station.alertability,
    productsTtlMs: station.products_ttl,
    alertabilityTtlMs: station.alertability_ttl,
    cache: { ttlMs: ttl, maxStaleMs: max_stale, errorTtlMs: error_ttl, refresh },
    metrics: {
      perResource: per_resource,
      maxResources: max_resources,
      maxFiringResources: max_firing_resources,
      disabled: new Set(disabled),
    },
    refreshTimeoutMs: refresh_timeout,
    labels: station.labels,
    resourceLabels: resourceLabels.ofStation(name),
    states,
    coverageWithinMs: coverage.within,
    absentFields: Object.keys(absent_fields).length === 0 ? undefined : absent_fields,
    labelValues: limits.label_values,
    maxChanges: limits.changes_per_station,
  };
}

function resolveFilters(filters: StationConfig['filters']): ListingFilters {
  const given = Object.entries(filters).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(given);
}

/** The active configuration as YAML, with defaults filled in and secrets hidden. */
export function renderConfig(config: Config): string {
  const names = resolveStations(config).map(({ name, upstream }) => ({ name, upstream }));
  const stations = config.stations.map((station, index) => ({ ...names[index], ...station }));
  const document = new Document(z.encode(configSchema, { ...config, stations }), { aliasDuplicateObjects: false });
  return document.toString({ lineWidth: 0 });
}
