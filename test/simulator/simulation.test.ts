import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Simulation, type SimulationOptions, startSimulation } from '../../src/simulator/simulation.ts';
import { demoStations, type SimulatedStation } from '../../src/simulator/stations.ts';
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
  it('returns a configuration with every station and the URL of the service', async () => {
    const { config, service } = await start();
    const { upstreams, stations, cache } = parse(config);
    expect(Object.values(upstreams)).toEqual([
      { base_url: service.url, page_size: 200 },
      { base_url: service.url, page_size: 200 },
    ]);
    expect(cache).toMatchObject({ ttl: '15s', refresh: 'scrape' });
    expect(stations).toHaveLength(demoStations.length);
    expect(stations[0]).toEqual({
      name: 'prod',
      upstream: 'east',
      subscription: demoStations[0]?.subscription,
      resource_group: 'platform',
      zone: 'cn-sh-01a',
      telemetry_station: 'ts-prod',
      products: ['product.lepton-acp', 'product.lepton-acp-new', 'product.aec2', 'product.afs'],
      alertability: true,
      labels: { team: 'platform', environment: 'production' },
    });
    for (const { upstream } of stations) expect(upstreams).toHaveProperty(upstream);
  });

  it('writes the configuration without YAML aliases', async () => {
    expect((await start()).config).not.toMatch(/[&*]a\d/);
  });

  it('has a station without page and one with a page cap and text numbers', async () => {
    const { service } = await start();
    const reply = async (name: string) =>
      (await get(`${service.url}${resourcesPath(station(name))}?page.size=100`)).json();
    expect(await reply('archive')).toMatchObject({ page: null, resources: { length: 100 } });
    expect(await reply('personal')).toMatchObject({ page: { offset: '0', size: '50' }, resources: { length: 50 } });
  });
});
