import { SIMULATED_CREDENTIALS, type SimulatedScheme } from './auth.ts';
import { exporterConfig } from './exporter-config.ts';
import type { Fault } from './faults.ts';
import { isSamePath } from './listing-request.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';
import { demoStations, type SimulatedStation } from './stations.ts';
import { createWorld, type Naming, type World } from './world.ts';

export interface SimulationOptions {
  readonly seed?: number;
  readonly now?: () => number;
  readonly port?: number;
  readonly stations?: readonly SimulatedStation[];
  /** Faults of every station, applied before its own. */
  readonly faults?: readonly Fault[];
  readonly pageCap?: number;
  readonly naming?: Naming;
  /** The credentials that requests must have; undefined: none. */
  readonly auth?: SimulatedScheme | undefined;
  /** `cache.refresh` of the exporter configuration; default: `scrape`. */
  readonly refresh?: 'scrape' | 'background';
}

export interface Simulation {
  readonly service: SimulatedService;
  /** An exporter configuration for all simulated stations, as YAML. */
  readonly config: string;
  readonly world: World;
}

/** As in the vendor's own client. */
const PAGE_CAP = 200;

/** Starts the simulated service with simulated fleets; by default the demo stations. */
export async function startSimulation({
  seed = 1,
  stations = demoStations,
  faults = [],
  pageCap = PAGE_CAP,
  naming = 'random',
  refresh = 'scrape',
  auth,
  ...options
}: SimulationOptions = {}): Promise<Simulation> {
  const world = createWorld({ seed, stations, naming });
  const own = stations.map((station) => [station.telemetry_station, station.faults]);
  const service = await startSimulatedService({
    ...options,
    source(path, atMs) {
      const station = stations.find((one) => isSamePath(one, path));
      return station && world.resources(station.name, atMs);
    },
    faults: { ...Object.fromEntries(own), '*': [{ kind: 'page_cap', size: pageCap }, ...faults] },
    seed,
    auth: auth && SIMULATED_CREDENTIALS[auth],
  });
  const configured = stations.map(({ size: _size, emphasis: _emphasis, faults: _faults, ...station }) => station);
  const config = exporterConfig(service.url, { stations: configured, pageSize: PAGE_CAP, refresh, auth });
  return { service, config, world };
}
