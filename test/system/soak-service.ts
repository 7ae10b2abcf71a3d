import { serveMethods } from '../../bench/child.ts';
import type { Fault } from '../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../src/simulator/fleet.ts';
import { startSimulatedService } from '../../src/simulator/service.ts';

export interface ServiceMethods {
  start(options: { seed: number; stations: readonly string[]; resourcesPerStation: number; faults?: boolean }): string;
}

/** Permanent faults of every kind. */
const FAULTS: readonly Fault[] = [
  { kind: 'slow', ms: [5, 60], when: { share: 0.3 } },
  { kind: 'slow', ms: [500, 3000], when: { share: 0.05, periodMs: 3000 } },
  { kind: 'wrong_total', delta: 7, when: { share: 0.05, periodMs: 4000 } },
  { kind: 'moving_total', when: { share: 0.05, periodMs: 5000 } },
  { kind: 'reported_total', total: undefined, when: { share: 0.05, periodMs: 6000 } },
  { kind: 'duplicates', every: 100, counted: false, when: { share: 0.05, periodMs: 7000 } },
  { kind: 'status', code: 500, when: { share: 0.02 } },
  { kind: 'status', code: 500, when: { share: 0.05, periodMs: 2000 } },
  { kind: 'status', code: 429, retryAfter: 1, when: { share: 0.002 } },
  { kind: 'html', when: { share: 0.003 } },
  { kind: 'reset', when: { share: 0.01 } },
  { kind: 'reset', at: 'body', when: { share: 0.01 } },
  { kind: 'truncated', when: { share: 0.01 } },
  { kind: 'hang', when: { share: 0.002 } },
  { kind: 'headers_only', when: { share: 0.001 } },
];

/** The service starts at the same time in every run, so that the seed determines its resources and the periods of its faults. */
const now = () => Date.UTC(2026, 0, 15) + performance.now();

serveMethods({
  start: async ({ seed, stations, resourcesPerStation, faults = true }: Parameters<ServiceMethods['start']>[0]) => {
    const fleets = new Map(
      stations.map((name) => [name, new SimulatedFleet(seed, { name, size: resourcesPerStation })]),
    );
    const service = await startSimulatedService({
      source: ({ telemetry_station }, atMs) => fleets.get(telemetry_station)?.at(atMs),
      seed,
      now,
      faults: { '*': faults ? FAULTS : [] },
    });
    return service.url;
  },
});
