import { stringify } from 'yaml';
import type { Source } from './answer.ts';
import type { Fault } from './faults.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';
import { behaviourFaults, type DemoStation, demoStations } from './stations.ts';
import { createWorld, type World } from './world.ts';

export interface DemoOptions {
  readonly seed?: number;
  readonly now?: () => number;
  readonly port?: number;
  readonly stations?: readonly DemoStation[];
  /** Of every station, before its own. */
  readonly faults?: readonly Fault[];
  readonly pageCap?: number;
}

export interface Demo {
  readonly service: SimulatedService;
  /** An exporter's configuration for all stations of the service, as YAML. */
  readonly config: string;
  readonly world: World;
}

/** A fleet to look at: the simulated service with some stations that are as difficult as real ones. */
export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { seed = 1, now = Date.now, port = 0, stations = demoStations, faults = [], pageCap = PAGE_CAP } = options;
  const world = createWorld({ seed, stations });
  const own = stations.map(({ path, behaviour }) => [path.telemetryStation, behaviourFaults[behaviour]]);
  const service = await startSimulatedService({
    source: worldSource(world, stations),
    faults: { ...Object.fromEntries(own), '*': faults },
    seed,
    now,
    port,
    pageCap,
    keptRequests: 100,
  });
  return { service, config: exporterConfig(service.url, stations), world };
}

/** What the vendor's own client keeps to. */
const PAGE_CAP = 200;

function worldSource(world: World, stations: readonly DemoStation[]): Source {
  const names = new Map(stations.map(({ path, name }) => [pathKey(path), name]));
  return (path, atMs) => {
    const name = names.get(pathKey(path));
    return name === undefined ? undefined : world.resources(name, atMs);
  };
}

function pathKey({ subscription, resourceGroup, zone, telemetryStation }: DemoStation['path']): string {
  return JSON.stringify([subscription, resourceGroup, zone, telemetryStation]);
}

function exporterConfig(baseUrl: string, stations: readonly DemoStation[]): string {
  const upstreams = new Set(stations.map(({ upstream }) => upstream));
  const config = {
    upstreams: Object.fromEntries([...upstreams].map((name) => [name, { base_url: baseUrl, page_size: PAGE_CAP }])),
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
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s' },
  };
  return stringify(config, { aliasDuplicateObjects: false });
}
