import { type Child, startChild } from './child.ts';
import type { ExporterMethods } from './exporter.ts';
import { type FleetShape, stationNames } from './fleet.ts';
import type { ServiceMethods } from './service.ts';

export const FLEET: FleetShape = { stations: 100, resourcesPerStation: 1000 };
export const RESOURCES = FLEET.stations * FLEET.resourcesPerStation;

interface StageOptions {
  readonly shape?: FleetShape;
  readonly ttl?: string;
  readonly pageSize?: number;
  readonly concurrency?: number;
  readonly latencyMs?: number;
}

/** A service and an exporter that asks it, each in a process of its own. */
export interface Stage {
  readonly service: Child<ServiceMethods>;
  readonly exporter: Child<ExporterMethods>;
  readonly port: number;
  /** Resident bytes of the exporter before it had anything to do. */
  readonly idleBytes: number;
}

export async function onStage<T>(options: StageOptions, play: (stage: Stage) => Promise<T>): Promise<T> {
  const { shape = FLEET, ttl = '1h', pageSize = 500, concurrency = 16, latencyMs = 0 } = options;
  const service = startChild<ServiceMethods>('service');
  const exporter = startChild<ExporterMethods>('exporter');
  try {
    // A fleet of a million would not fit beside the exporter if the service kept its pages.
    const keep = shape.stations * shape.resourcesPerStation <= RESOURCES;
    const servicePort = await service.call('start', { shape, latencyMs, keep });
    const idleBytes = await exporter.call('memory');
    const port = await exporter.call('start', { servicePort, stations: stationNames(shape), ttl, pageSize, concurrency });
    return await play({ service, exporter, port, idleBytes });
  } finally {
    await exporter.stop();
    await service.stop();
  }
}
