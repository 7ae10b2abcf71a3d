import { stringify } from 'yaml';
import type { Source } from './answer.ts';
import { behaviourFaults, type DemoStation, demoStations } from './demo-stations.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';
import { createWorld, type World } from './world.ts';

export interface DemoOptions {
  readonly seed?: number;
  readonly now?: () => number;
  readonly port?: number;
}

export interface Demo {
  readonly service: SimulatedService;
  /** An exporter's configuration for all stations of the service, as YAML. */
  readonly config: string;
  readonly world: World;
}

/** A fleet to look at: the simulated service with some stations that are as difficult as real ones. */
export async function startDemo({ seed = 1, now = Date.now, port = 0 }: DemoOptions = {}): Promise<Demo> {
  const world = createWorld({ seed, stations: demoStations });
  const service = await startSimulatedService({
    source: worldSource(world),
    faults: Object.fromEntries(demoStations.map(({ path, behaviour }) => [path.telemetryStation, behaviourFaults[behaviour]])),
    seed,
    now,
    port,
    pageCap: 200,
    keptRequests: 100,
  });
  return { service, config: exporterConfig(service.url), world };
}

function worldSource(world: World): Source {
  const names = new Map(demoStations.map(({ path, name }) => [pathKey(path), name]));
  return (path, atMs) => {
    const name = names.get(pathKey(path));
    return name === undefined ? undefined : world.resources(name, atMs);
  };
}

function pathKey({ subscription, resourceGroup, zone, telemetryStation }: DemoStation['path']): string {
  return JSON.stringify([subscription, resourceGroup, zone, telemetryStation]);
}

function exporterConfig(baseUrl: string): string {
  const upstreams = new Set(demoStations.map(({ upstream }) => upstream));
  const config = {
    upstreams: Object.fromEntries([...upstreams].map((name) => [name, { base_url: baseUrl, page_size: 200 }])),
    stations: demoStations.map(({ name, upstream, path, products, alertability, labels }) => ({
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
