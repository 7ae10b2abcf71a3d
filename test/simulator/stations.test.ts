import { describe, expect, it } from 'vitest';
import { demoStations, simulatedStations } from '../../src/simulator/stations.ts';

const sizesOf = (size: Parameters<typeof simulatedStations>[0]) => simulatedStations(size).map((station) => [station.name, station.size]);

describe('sizedStations', () => {
  it('are those of the demo when nothing is asked for', () => {
    expect(simulatedStations({})).toEqual(demoStations);
  });

  it('are those of the demo in another size', () => {
    expect(simulatedStations({ resources: 50 })).toEqual(demoStations.map((station) => ({ ...station, size: 50 })));
  });

  it('are as many as are asked for, each with a name of its own, and behave well', () => {
    expect(sizesOf({ stations: 3, resources: 20 })).toEqual([
      ['station-1', 20],
      ['station-2', 20],
      ['station-3', 20],
    ]);
    expect(sizesOf({ stations: 1 })).toEqual([['station-1', 1000]]);
    expect(simulatedStations({ stations: 2 }).every(({ behaviour }) => behaviour === 'steady')).toBe(true);
  });
});
