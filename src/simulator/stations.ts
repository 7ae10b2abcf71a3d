import type { Fault } from './faults.ts';
import type { StationPath } from './listing-request.ts';
import type { WorldStation } from './world.ts';

/** The faults of a simulated station. */
export type Behaviour = 'steady' | 'slow' | 'flaky' | 'unpaged' | 'capped';

export interface SimulatedStation extends WorldStation {
  readonly upstream: string;
  readonly path: StationPath;
  readonly products: readonly string[];
  readonly alertability: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly behaviour: Behaviour;
}

const SUBSCRIPTIONS = { east: '5f0c1b8e-6a5d-4d0e-9a53-0b6f7a4c21d7', north: 'c2a7d9f4-31be-4e66-8f1c-94d2b05e7a10' };
const LEPTON = ['product.lepton-acp', 'product.lepton-acp-new'];

export const demoStations: readonly SimulatedStation[] = [
  {
    name: 'prod',
    upstream: 'east',
    path: {
      subscription: SUBSCRIPTIONS.east,
      resourceGroup: 'platform',
      zone: 'cn-sh-01a',
      telemetryStation: 'ts-prod',
    },
    size: 4200,
    products: [...LEPTON, 'product.aec2', 'product.afs'],
    alertability: true,
    labels: { team: 'platform', environment: 'production' },
    behaviour: 'steady',
  },
  {
    name: 'staging',
    upstream: 'east',
    path: {
      subscription: SUBSCRIPTIONS.east,
      resourceGroup: 'platform-staging',
      zone: 'cn-sh-01b',
      telemetryStation: 'ts-staging',
    },
    size: 650,
    products: LEPTON,
    alertability: true,
    labels: { team: 'platform', environment: 'staging' },
    behaviour: 'steady',
  },
  {
    name: 'archive',
    upstream: 'east',
    path: {
      subscription: SUBSCRIPTIONS.east,
      resourceGroup: 'storage',
      zone: 'cn-sh-01a',
      telemetryStation: 'ts-archive',
    },
    size: 1300,
    emphasis: 'storage',
    products: ['product.afs', 'product.aoss'],
    alertability: true,
    labels: { team: 'storage', environment: 'production' },
    behaviour: 'unpaged',
  },
  {
    name: 'personal',
    upstream: 'east',
    path: {
      subscription: SUBSCRIPTIONS.east,
      resourceGroup: 'default',
      zone: 'cn-sh-01e',
      telemetryStation: 'ts-user-10482',
    },
    size: 280,
    products: LEPTON,
    alertability: false,
    labels: { team: 'research', environment: 'personal' },
    behaviour: 'capped',
  },
  {
    name: 'training',
    upstream: 'north',
    path: {
      subscription: SUBSCRIPTIONS.north,
      resourceGroup: 'llm',
      zone: 'cn-bj-02a',
      telemetryStation: 'ts-training',
    },
    size: 2400,
    emphasis: 'compute',
    products: [...LEPTON, 'product.ecp'],
    alertability: true,
    labels: { team: 'llm', environment: 'production' },
    behaviour: 'slow',
  },
  {
    name: 'edge',
    upstream: 'north',
    path: { subscription: SUBSCRIPTIONS.north, resourceGroup: 'edge', zone: 'cn-sz-01a', telemetryStation: 'ts-edge' },
    size: 900,
    emphasis: 'network',
    products: ['product.eip', 'product.slb'],
    alertability: true,
    labels: { team: 'network', environment: 'production' },
    behaviour: 'flaky',
  },
];

const MINUTE = 60_000;

/** A flaky station has single failures that a retry hides, and minutes in which every request fails. */
export const behaviourFaults: Readonly<Record<Behaviour, readonly Fault[]>> = {
  steady: [],
  slow: [
    { kind: 'latency', ms: [40, 250] },
    { kind: 'latency', ms: [700, 6000], when: { share: 0.1 } },
  ],
  flaky: [
    { kind: 'status', code: 500, when: { share: 0.05 } },
    { kind: 'reset', when: { share: 0.02 } },
    { kind: 'status', code: 503, when: { share: 0.08, periodMs: MINUTE } },
    { kind: 'status', code: 429, retryAfter: 20, when: { share: 0.04, periodMs: MINUTE } },
    { kind: 'reset', at: 'body', when: { share: 0.04, periodMs: MINUTE } },
  ],
  unpaged: [{ kind: 'nullPage' }],
  capped: [{ kind: 'pageCap', size: 50 }, { kind: 'textNumbers' }],
};

interface SimulationSize {
  /** Number of healthy stations; undefined: the demo stations. */
  readonly stations?: number | undefined;
  /** Average number per station; undefined: that of the demo station, or 1000. */
  readonly resources?: number | undefined;
}

const DEFAULT_SIZE = 1000;

export function simulatedStations({ stations, resources }: SimulationSize): readonly SimulatedStation[] {
  if (stations === undefined) return demoStations.map((station) => ({ ...station, size: resources ?? station.size }));
  return Array.from({ length: stations }, (_, index) =>
    healthyStation(`station-${index + 1}`, resources ?? DEFAULT_SIZE),
  );
}

function healthyStation(name: string, size: number): SimulatedStation {
  return {
    name,
    upstream: 'main',
    path: { subscription: 'simulated', resourceGroup: 'default', zone: 'zone-1', telemetryStation: name },
    size,
    products: ['product.lepton-acp', 'product.lepton-acp-new', 'product.aec2', 'product.afs'],
    alertability: true,
    labels: {},
    behaviour: 'steady',
  };
}
