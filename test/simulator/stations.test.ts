import { describe, expect, it } from 'vitest';
import { faultPlan } from '../../src/simulator/faults.ts';
import { demoStations, simulatedStations } from '../../src/simulator/stations.ts';

const NOW = Date.UTC(2026, 4, 13, 12);

const sizesOf = (size: Parameters<typeof simulatedStations>[0]) =>
  simulatedStations(size).map((station) => [station.name, station.size]);

describe('simulatedStations', () => {
  it('are healthy stations with distinct names when a number is given', () => {
    expect(sizesOf({ stations: 3, resources: 20 })).toEqual([
      ['station-1', 20],
      ['station-2', 20],
      ['station-3', 20],
    ]);
    expect(sizesOf({ stations: 1 })).toEqual([['station-1', 1000]]);
    expect(simulatedStations({ stations: 2 }).flatMap(({ faults }) => faults)).toEqual([]);
  });
});

describe('demoStations', () => {
  it('have distinct names and paths, and more than 8000 resources', () => {
    expect(new Set(demoStations.map(({ name }) => name)).size).toBe(demoStations.length);
    expect(new Set(demoStations.map(({ telemetry_station }) => telemetry_station)).size).toBe(demoStations.length);
    expect(demoStations.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(8000);
  });
});

describe('the edge station of the demo', () => {
  it('fails for 8 to 25 % of the minutes', () => {
    const edge = demoStations.find(({ name }) => name === 'edge') ?? expect.unreachable();
    const plan = faultPlan(
      edge.faults.filter(({ when }) => when?.periodMs !== undefined),
      1,
    );
    const minutes = Array.from(
      { length: 600 },
      (_, minute) => plan({ station: 'ts', filters: {}, offset: 0 }, NOW + minute * 60_000).length > 0,
    );
    const failing = minutes.filter(Boolean).length / minutes.length;
    expect(failing).toBeGreaterThan(0.08);
    expect(failing).toBeLessThan(0.25);
  });
});
