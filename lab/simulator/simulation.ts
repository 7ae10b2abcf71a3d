import { stringify } from 'yaml';
import { type Fault, limitedPages } from './faults.ts';
import { SimulatedFleet } from './fleet.ts';
import { isSamePath, type SimulatedPath } from './listing.ts';
import { type ServiceOptions, type SimulatedService, startSimulatedService } from './service.ts';
import { demoStations, type SimulatedStation } from './stations.ts';

export interface ReplayOptions extends Pick<ServiceOptions, 'seed' | 'now' | 'port' | 'compression'> {
  /** Faults of every station, applied before its own. */
  readonly faults?: readonly Fault[];
}

interface SimulationOptions extends ReplayOptions {
  readonly stations?: readonly SimulatedStation[];
  /** `cache.refresh` of the exporter configuration; default: `scrape`. */
  readonly refresh?: 'scrape' | 'background' | undefined;
}

export interface ConfiguredService {
  readonly service: SimulatedService;
  /** An exporter configuration for all stations, as YAML. */
  readonly config: string;
}

/** The vendor's own client requests pages of this size. */
const PAGE_CAP = 200;

/** Starts the simulated service with simulated fleets; by default the demo stations. */
export function startSimulation({
  seed = 1,
  stations = demoStations,
  faults = [],
  refresh,
  ...options
}: SimulationOptions = {}): Promise<ConfiguredService> {
  const simulated = stations.map((station) => ({ station, fleet: new SimulatedFleet(seed, station) }));
  const at = (path: SimulatedPath) => simulated.find(({ station }) => isSamePath(station, path));
  return startConfigured(
    {
      ...options,
      source: (path, atMs) => at(path)?.fleet.at(atMs),
      faults: (request) => [
        limitedPages(PAGE_CAP),
        ...faults,
        ...((request && at(request.path)?.station.faults) ?? []),
      ],
      seed,
    },
    stations.map(({ size: _size, emphasis: _emphasis, faults: _faults, ...station }) => station),
    { pageSize: PAGE_CAP, refresh },
  );
}

/** Starts the service, with the configuration of an exporter of these stations. */
export async function startConfigured(
  options: ServiceOptions,
  stations: readonly { readonly upstream: string }[],
  { pageSize, refresh = 'scrape' }: Pick<SimulationOptions, 'refresh'> & { readonly pageSize: number },
): Promise<ConfiguredService> {
  const service = await startSimulatedService(options);
  const upstream = { base_url: service.url, page_size: pageSize };
  const config = {
    upstreams: Object.fromEntries(stations.map(({ upstream: name }) => [name, upstream])),
    stations,
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s', refresh },
  };
  // Recorded text must not be expanded as an environment variable.
  return { service, config: stringify(config, { aliasDuplicateObjects: false }).replaceAll('${', '$${') };
}
