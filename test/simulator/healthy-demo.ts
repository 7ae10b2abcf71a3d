import type { Fault } from '../../lab/simulator/faults.ts';
import { SimulatedFleet } from '../../lab/simulator/fleet.ts';
import { startSimulation } from '../../lab/simulator/simulation.ts';
import { demoStations } from '../../lab/simulator/stations.ts';

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
