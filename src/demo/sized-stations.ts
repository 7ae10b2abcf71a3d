import { type DemoStation, demoStations } from './demo-stations.ts';

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
