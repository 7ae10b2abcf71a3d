import type { StationPath } from './call.ts';
import type { Fault } from './faults.ts';
import type { WorldStation } from './world.ts';

/** How a station of the demo treats its clients. */
export type Behaviour = 'steady' | 'slow' | 'flaky' | 'unpaged' | 'capped';

export interface DemoStation extends WorldStation {
  readonly upstream: string;
  readonly path: StationPath;
  readonly products: readonly string[];
  readonly alertability: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly behaviour: Behaviour;
}

const SUBSCRIPTIONS = { east: '5f0c1b8e-6a5d-4d0e-9a53-0b6f7a4c21d7', north: 'c2a7d9f4-31be-4e66-8f1c-94d2b05e7a10' };
const LEPTON = ['product.lepton-acp', 'product.lepton-acp-new'];

export const demoStations: readonly DemoStation[] = [
  {
    name: 'prod',
    upstream: 'east',
    path: { subscription: SUBSCRIPTIONS.east, resourceGroup: 'platform', zone: 'cn-sh-01a', telemetryStation: 'ts-prod' },
    size: 4200,
    products: [...LEPTON, 'product.aec2', 'product.afs'],
    alertability: true,
    labels: { team: 'platform', environment: 'production' },
    behaviour: 'steady',
  },
  {
    name: 'staging',
    upstream: 'east',
    path: { subscription: SUBSCRIPTIONS.east, resourceGroup: 'platform-staging', zone: 'cn-sh-01b', telemetryStation: 'ts-staging' },
    size: 650,
    products: LEPTON,
    alertability: true,
    labels: { team: 'platform', environment: 'staging' },
    behaviour: 'steady',
  },
  {
    name: 'archive',
    upstream: 'east',
    path: { subscription: SUBSCRIPTIONS.east, resourceGroup: 'storage', zone: 'cn-sh-01a', telemetryStation: 'ts-archive' },
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
    path: { subscription: SUBSCRIPTIONS.east, resourceGroup: 'default', zone: 'cn-sh-01e', telemetryStation: 'ts-user-10482' },
    size: 280,
    products: LEPTON,
    alertability: false,
    labels: { team: 'research', environment: 'personal' },
    behaviour: 'capped',
  },
  {
    name: 'training',
    upstream: 'north',
    path: { subscription: SUBSCRIPTIONS.north, resourceGroup: 'llm', zone: 'cn-bj-02a', telemetryStation: 'ts-training' },
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

/** A flaky station has single failures that a retry heals, and whole bad minutes that none does. */
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

interface Size {
  /** undefined: those of the demo with their ways. */
  readonly stations?: number | undefined;
  /** Of each station, on average; undefined: as the demo has it, or a thousand. */
  readonly resources?: number | undefined;
}

const USUAL_SIZE = 1000;

/** As many stations as are wanted, of the size that is wanted. */
export function sizedStations({ stations, resources }: Size): readonly DemoStation[] {
  if (stations === undefined) return demoStations.map((station) => ({ ...station, size: resources ?? station.size }));
  return Array.from({ length: stations }, (_, index) => plainStation(`station-${index + 1}`, resources ?? USUAL_SIZE));
}

/** One that behaves well. */
function plainStation(name: string, size: number): DemoStation {
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
