import { afterEach, describe, expect, it } from 'vitest';
import { faultPlan } from '../../src/simulator/faults.ts';
import { type Simulation, type SimulationOptions, startSimulation } from '../../src/simulator/simulation.ts';
import { demoStations, type SimulatedStation, simulatedStations } from '../../src/simulator/stations.ts';
import { get, resourcesPath } from './client.ts';

const NOW = Date.UTC(2026, 4, 13, 12);
let simulation: Simulation | undefined;

afterEach(() => simulation?.service.stop());

async function start(options: SimulationOptions = { seed: 7, now: () => NOW }): Promise<Simulation> {
  simulation = await startSimulation(options);
  return simulation;
}

function station(name: string): SimulatedStation {
  return demoStations.find((one) => one.name === name) ?? expect.unreachable();
}

describe('startSimulation', () => {
  it('has a station without page and one with a page cap and text numbers', async () => {
    const { service } = await start();
    const reply = async (name: string) =>
      (await get(`${service.url}${resourcesPath(station(name))}?page.size=100`)).json();
    expect(await reply('archive')).toMatchObject({ page: null, resources: { length: 100 } });
    expect(await reply('personal')).toMatchObject({ page: { offset: '0', size: '50' }, resources: { length: 50 } });
  });
});

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
