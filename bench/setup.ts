import { type Child, startChild } from './child.ts';
import type { ExporterMethods } from './exporter.ts';
import { type FleetShape, stationNames } from './fleet.ts';
import type { ServiceMethods } from './service.ts';

export const FLEET: FleetShape = { stations: 100, resourcesPerStation: 1000 };
/** Resources per page of the service, unless a benchmark says otherwise. */
export const PAGE_SIZE = 500;
/** That of the exporter. */
export const DEFAULT_PAGE_SIZE = 100;
export const RESOURCES = FLEET.stations * FLEET.resourcesPerStation;

interface SetupOptions {
  readonly shape?: FleetShape;
  readonly ttl?: string;
  readonly pageSize?: number;
  readonly concurrency?: number;
  readonly latencyMs?: number;
  /** The service returns all remaining resources in one page. */
  readonly ignoreSize?: boolean;
  /** Entries of the configuration. */
  readonly resourceLabels?: object[];
}

/** A service and an exporter, each in its own process. */
export interface Setup {
  readonly service: Child<ServiceMethods>;
  readonly exporter: Child<ExporterMethods>;
  readonly port: number;
  /** Resident set size of the exporter before it starts. */
  readonly idleBytes: number;
}

export async function withSetup<T>(options: SetupOptions, run: (setup: Setup) => Promise<T>): Promise<T> {
  const {
    shape = FLEET,
    ttl = '1h',
    pageSize = PAGE_SIZE,
    concurrency = 16,
    latencyMs = 0,
    ignoreSize = false,
    resourceLabels = [],
  } = options;
  const service = startChild<ServiceMethods>('service');
  const exporter = startChild<ExporterMethods>('exporter');
  try {
    // The cached pages of a million resources and the exporter do not fit in memory together.
    const cachePages = shape.stations * shape.resourcesPerStation <= RESOURCES;
    const servicePort = await service.call('start', { shape, latencyMs, cachePages, ignoreSize });
    const idleBytes = await exporter.call('memory');
    const port = await exporter.call('start', {
      servicePort,
      stations: stationNames(shape),
      ttl,
      pageSize,
      concurrency,
      resourceLabels,
    });
    return await run({ service, exporter, port, idleBytes });
  } finally {
    await exporter.stop();
    await service.stop();
  }
}
