import { type Fault, limitedPages, NAMED_FAULTS, replyWith, slow } from './faults.ts';
import type { FleetOptions } from './fleet.ts';
import type { SimulatedPath } from './listing.ts';
import { MINUTE } from './resource-kinds.ts';

/** A station of the exporter configuration, and what the service has for it. */
export interface SimulatedStation extends FleetOptions, SimulatedPath {
  readonly upstream: string;
  readonly products: readonly string[];
  readonly alertability: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
}

const EAST = { upstream: 'east', subscription: '5f0c1b8e-6a5d-4d0e-9a53-0b6f7a4c21d7' };
const NORTH = { upstream: 'north', subscription: 'c2a7d9f4-31be-4e66-8f1c-94d2b05e7a10' };
const LEPTON = ['product.lepton-acp', 'product.lepton-acp-new'];

const HEALTHY = {
  products: [...LEPTON, 'product.aec2', 'product.afs'],
  alertability: true,
  labels: {},
  faults: [],
};

export const demoStations: readonly SimulatedStation[] = [
  {
    name: 'prod',
    ...EAST,
    resource_group: 'platform',
    zone: 'cn-sh-01a',
    telemetry_station: 'ts-prod',
    size: 4200,
    ...HEALTHY,
    labels: { team: 'platform', environment: 'production' },
  },
  {
    name: 'staging',
    ...EAST,
    resource_group: 'platform-staging',
    zone: 'cn-sh-01b',
    telemetry_station: 'ts-staging',
    size: 650,
    ...HEALTHY,
    products: LEPTON,
    labels: { team: 'platform', environment: 'staging' },
  },
  {
    name: 'archive',
    ...EAST,
    resource_group: 'storage',
    zone: 'cn-sh-01a',
    telemetry_station: 'ts-archive',
    size: 1300,
    emphasis: 'storage',
    products: ['product.afs', 'product.aoss'],
    alertability: true,
    labels: { team: 'storage', environment: 'production' },
    faults: [NAMED_FAULTS.null_page],
  },
  {
    name: 'personal',
    ...EAST,
    resource_group: 'default',
    zone: 'cn-sh-01e',
    telemetry_station: 'ts-user-10482',
    size: 280,
    products: LEPTON,
    alertability: false,
    labels: { team: 'research', environment: 'personal' },
    faults: [limitedPages(50), NAMED_FAULTS.text_numbers],
  },
  {
    name: 'training',
    ...NORTH,
    resource_group: 'llm',
    zone: 'cn-bj-02a',
    telemetry_station: 'ts-training',
    size: 2400,
    emphasis: 'compute',
    products: [...LEPTON, 'product.ecp'],
    alertability: true,
    labels: { team: 'llm', environment: 'production' },
    faults: [slow(40, 250), { ...slow(700, 6000), share: 0.1 }],
  },
  {
    name: 'edge',
    ...NORTH,
    resource_group: 'edge',
    zone: 'cn-sz-01a',
    telemetry_station: 'ts-edge',
    size: 900,
    emphasis: 'network',
    products: ['product.eip', 'product.slb'],
    alertability: true,
    labels: { team: 'network', environment: 'production' },
    // Single failures that a retry hides, and minutes in which every request fails.
    faults: [
      { ...NAMED_FAULTS.server_error, share: 0.05 },
      { ...NAMED_FAULTS.reset, share: 0.02 },
      { ...NAMED_FAULTS.unavailable, share: 0.08, periodMs: MINUTE },
      { ...replyWith(429, { 'retry-after': '20' }), share: 0.04, periodMs: MINUTE },
      { ...NAMED_FAULTS.truncated, share: 0.04, periodMs: MINUTE },
    ],
  },
];

interface SimulationSize {
  /** Number of healthy stations; undefined: the demo stations. */
  readonly stations?: number | undefined;
  /** Average number per station; undefined: that of the demo station, or 1000. */
  readonly resources?: number | undefined;
}

export function simulatedStations({ stations, resources }: SimulationSize): readonly SimulatedStation[] {
  if (stations === undefined) return demoStations.map((station) => ({ ...station, size: resources ?? station.size }));
  return Array.from({ length: stations }, (_, index) => ({
    name: `station-${index + 1}`,
    upstream: 'main',
    subscription: 'simulated',
    resource_group: 'default',
    zone: 'zone-1',
    telemetry_station: `station-${index + 1}`,
    size: resources ?? 1000,
    ...HEALTHY,
  }));
}
