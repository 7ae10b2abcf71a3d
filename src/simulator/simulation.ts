import { stringify } from 'yaml';
import { authConfig, SIMULATED_CREDENTIALS, type SimulatedScheme } from './auth.ts';
import type { Fault } from './faults.ts';
import type { RecordSource } from './listing-reply.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';
import { behaviourFaults, demoStations, type SimulatedStation } from './stations.ts';
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

/** Starts the simulated service with simulated fleets; by default the demo stations. */
export async function startSimulation(options: SimulationOptions = {}): Promise<Simulation> {
  const {
    seed = 1,
    now = Date.now,
    port = 0,
    stations = demoStations,
    faults = [],
    pageCap = PAGE_CAP,
    naming = 'random',
  } = options;
  const { refresh = 'scrape', auth } = options;
  const world = createWorld({ seed, stations, naming });
  const own = stations.map(({ path, behaviour }) => [path.telemetryStation, behaviourFaults[behaviour]]);
  const service = await startSimulatedService({
    source: worldSource(world, stations),
    faults: { ...Object.fromEntries(own), '*': faults },
    seed,
    now,
    port,
    pageCap,
    requestLogSize: 100,
    ...(auth && { auth: SIMULATED_CREDENTIALS[auth] }),
  });
  return { service, config: exporterConfig(service.url, stations, refresh, auth), world };
}

/** As in the vendor's own client. */
const PAGE_CAP = 200;

function worldSource(world: World, stations: readonly SimulatedStation[]): RecordSource {
  const names = new Map(stations.map(({ path, name }) => [pathKey(path), name]));
  return (path, atMs) => {
    const name = names.get(pathKey(path));
    return name === undefined ? undefined : world.resources(name, atMs);
  };
}

function pathKey({ subscription, resourceGroup, zone, telemetryStation }: SimulatedStation['path']): string {
  return JSON.stringify([subscription, resourceGroup, zone, telemetryStation]);
}

function exporterConfig(
  baseUrl: string,
  stations: readonly SimulatedStation[],
  refresh: string,
  auth: SimulatedScheme | undefined,
): string {
  const upstreams = new Set(stations.map(({ upstream }) => upstream));
  const config = {
    upstreams: Object.fromEntries(
      [...upstreams].map((name) => [name, { base_url: baseUrl, page_size: PAGE_CAP, ...authConfig(auth, baseUrl) }]),
    ),
    stations: stations.map(({ name, upstream, path, products, alertability, labels }) => ({
      name,
      upstream,
      subscription: path.subscription,
      resource_group: path.resourceGroup,
      zone: path.zone,
      telemetry_station: path.telemetryStation,
      products,
      alertability,
      labels,
    })),
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s', refresh },
  };
  return stringify(config, { aliasDuplicateObjects: false });
}
