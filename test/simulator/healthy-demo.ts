import type { Fault } from '../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../src/simulator/fleet.ts';
import { startSimulation } from '../../src/simulator/simulation.ts';
import { demoStations } from '../../src/simulator/stations.ts';

/** The demo at a constant time, without its faults. */
export async function startHealthyDemo(nowMs: number) {
  const faults = new Map<string, readonly Fault[]>();
  const stations = demoStations.map((station) => ({
    ...station,
    get faults() {
      return faults.get(station.name) ?? [];
    },
  }));
  const fleets = new Map(stations.map((station) => [station.name, new SimulatedFleet(1, station).at(nowMs)]));
  return {
    ...(await startSimulation({ stations, now: () => nowMs })),
    /** The resources by station. */
    fleets,
    setFaults: (station: string, changed: readonly Fault[]) => faults.set(station, changed),
  };
}

export type HealthyDemo = Awaited<ReturnType<typeof startHealthyDemo>>;
