import { serveMethods } from '../../bench/child.ts';
import { type Fault, NAMED_FAULTS, replyWith, slow } from '../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../src/simulator/fleet.ts';
import { startSimulatedService } from '../../src/simulator/service.ts';
import {
  headersOnly,
  movingTotal,
  reportedTotal,
  resetWithinBody,
  uncountedDuplicates,
  wrongTotal,
} from '../simulator/simulated-service.ts';

export interface ServiceMethods {
  start(options: { seed: number; stations: readonly string[]; resourcesPerStation: number }): string;
}

/** Permanent faults of every kind. */
const FAULTS: readonly Fault[] = [
  { ...slow(5, 60), share: 0.3 },
  { ...slow(500, 3000), share: 0.05, periodMs: 3000 },
  { ...wrongTotal(7), share: 0.05, periodMs: 4000 },
  { ...movingTotal, share: 0.05, periodMs: 5000 },
  { ...reportedTotal(undefined), share: 0.05, periodMs: 6000 },
  { ...uncountedDuplicates(100), share: 0.05, periodMs: 7000 },
  { ...replyWith(500), share: 0.02 },
  { ...replyWith(500), share: 0.05, periodMs: 2000 },
  { ...replyWith(429, { 'retry-after': '1' }), share: 0.002 },
  { ...NAMED_FAULTS.html, share: 0.003 },
  { ...NAMED_FAULTS.reset, share: 0.01 },
  { ...resetWithinBody, share: 0.01 },
  { ...NAMED_FAULTS.truncated, share: 0.01 },
  { ...NAMED_FAULTS.hang, share: 0.002 },
  { ...headersOnly, share: 0.001 },
];

/** The service starts at the same time in every run, so that the seed determines its resources and the periods of its faults. */
const now = () => Date.UTC(2026, 0, 15) + performance.now();

serveMethods({
  start: async ({ seed, stations, resourcesPerStation }: Parameters<ServiceMethods['start']>[0]) => {
    const fleets = new Map(
      stations.map((name) => [name, new SimulatedFleet(seed, { name, size: resourcesPerStation })]),
    );
    const service = await startSimulatedService({
      source: ({ telemetry_station }, atMs) => fleets.get(telemetry_station)?.at(atMs),
      seed,
      now,
      faults: () => FAULTS,
    });
    return service.url;
  },
});
