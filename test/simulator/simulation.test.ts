import { describe, expect, it, onTestFinished } from 'vitest';
import { faultDraw } from '../../src/simulator/faults.ts';
import { startSimulation } from '../../src/simulator/simulation.ts';
import { demoStations, type SimulatedStation } from '../../src/simulator/stations.ts';
import { get, resourcesPath } from './client.ts';

const NOW = Date.UTC(2026, 4, 13, 12);
function station(name: string): SimulatedStation {
  return demoStations.find((one) => one.name === name) ?? expect.unreachable();
}

describe('startSimulation', () => {
  it('has a station without page and one with a page cap and text numbers', async () => {
    const { service } = await startSimulation({ seed: 7, now: () => NOW });
    onTestFinished(() => service.stop());
    const reply = async (name: string) =>
      (await get(`${service.url}${resourcesPath(station(name))}?page.size=100`)).json();
    expect(await reply('archive')).toMatchObject({ page: null, resources: { length: 100 } });
    expect(await reply('personal')).toMatchObject({ page: { offset: '0', size: '50' }, resources: { length: 50 } });
  });
});

describe('the edge station of the demo', () => {
  it('fails for 8 to 25 % of the minutes', () => {
    const draw = faultDraw(1);
    const outages = station('edge').faults.filter(({ periodMs }) => periodMs !== undefined);
    const minutes = Array.from(
      { length: 600 },
      (_, minute) => draw(outages, 'ts-edge', NOW + minute * 60_000).faults.length > 0,
    );
    const failing = minutes.filter(Boolean).length / minutes.length;
    expect(failing).toBeGreaterThan(0.08);
    expect(failing).toBeLessThan(0.25);
  });
});
