import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { faultPlan } from '../../src/simulator/fault-plan.ts';
import { jsonReply } from '../../src/simulator/reply.ts';
import { type Simulation, type SimulationOptions, startSimulation } from '../../src/simulator/simulation.ts';
import { behaviourFaults, demoStations, type SimulatedStation } from '../../src/simulator/stations.ts';
import { get, resourcesPath } from './client.ts';

const NOW = Date.UTC(2026, 4, 13, 12);
let demo: Simulation | undefined;

afterEach(() => demo?.service.stop());

async function start(options: SimulationOptions = { seed: 7, now: () => NOW }): Promise<Simulation> {
  demo = await startSimulation(options);
  return demo;
}

function station(behaviour: SimulatedStation['behaviour']): SimulatedStation {
  const found = demoStations.find((one) => one.behaviour === behaviour);
  if (found === undefined) throw new Error(`no station is ${behaviour}`);
  return found;
}

describe('startDemo', () => {
  it('configures an exporter for every station at the real address', async () => {
    const { config, service } = await start();
    const { upstreams, stations, cache } = parse(config);
    expect(Object.values(upstreams)).toEqual([
      { base_url: service.url, page_size: 200 },
      { base_url: service.url, page_size: 200 },
    ]);
    expect(cache.ttl).toBe('15s');
    expect(stations).toHaveLength(demoStations.length);
    expect(stations[0]).toEqual({
      name: 'prod',
      upstream: 'east',
      subscription: demoStations[0]?.path.subscription,
      resource_group: 'platform',
      zone: 'cn-sh-01a',
      telemetry_station: 'ts-prod',
      products: ['product.lepton-acp', 'product.lepton-acp-new', 'product.aec2', 'product.afs'],
      alertability: true,
      labels: { team: 'platform', environment: 'production' },
    });
    for (const { upstream } of stations) expect(upstreams).toHaveProperty(upstream);
  });

  it('writes the configuration without YAML references', async () => {
    expect((await start()).config).not.toMatch(/[&*]a\d/);
  });

  it('serves exactly the world, page by page', async () => {
    const { service, world } = await start();
    const { path, name } = station('steady');
    const listed: unknown[] = [];
    let total = Number.POSITIVE_INFINITY;
    while (listed.length < total) {
      const { resources, page } = (await get(`${service.url}${resourcesPath(path)}?page.size=1000&page.offset=${listed.length}`)).json();
      expect(resources.length).toBeLessThanOrEqual(200);
      listed.push(...resources);
      total = page.total;
    }
    expect(listed).toEqual(world.resources(name, NOW).map(({ record }) => record));
  });

  it('narrows by what records do not show', async () => {
    const { service, world } = await start();
    const { path, name } = station('steady');
    const { page } = (await get(`${service.url}${resourcesPath(path)}?product=product.afs&enabled_alert=true`)).json();
    const expected = world.resources(name, NOW).filter(({ product, alertable }) => product === 'product.afs' && alertable);
    expect(page.total).toBe(expected.length);
  });

  it('answers 404 when any part of the path is another', async () => {
    const { service } = await start();
    const { path } = station('steady');
    expect((await get(`${service.url}${resourcesPath({ ...path, zone: 'elsewhere' })}`)).status).toBe(404);
  });

  it('has a station without page and one with capped pages and text numbers', async () => {
    const { service } = await start();
    const reply = async (behaviour: SimulatedStation['behaviour']) =>
      (await get(`${service.url}${resourcesPath(station(behaviour).path)}?page.size=100`)).json();
    expect(await reply('unpaged')).toMatchObject({ page: null, resources: { length: 100 } });
    expect(await reply('capped')).toMatchObject({ page: { offset: '0', size: '50' }, resources: { length: 50 } });
  });

  it('goes on with the real time on a port of its own when told nothing', async () => {
    const { service } = await start({});
    const reply = await get(`${service.url}${resourcesPath(station('steady').path)}`);
    expect(reply.status).toBe(200);
    expect(reply.json().page.total).toBeGreaterThan(3000);
  });
});

describe('demoStations', () => {
  it('have distinct names and places and thousands of resources together', () => {
    expect(new Set(demoStations.map(({ name }) => name)).size).toBe(demoStations.length);
    expect(new Set(demoStations.map(({ path }) => path.telemetryStation)).size).toBe(demoStations.length);
    expect(demoStations.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(8000);
  });
});

describe('behaviourFaults', () => {
  it('makes the flaky station fail for whole minutes, but only now and then', () => {
    const plan = faultPlan(
      behaviourFaults.flaky.filter(({ when }) => when?.periodMs !== undefined),
      1,
    );
    const minutes = Array.from({ length: 600 }, (_, minute) => plan({ filters: {}, offset: 0 }, NOW + minute * 60_000).length > 0);
    const failing = minutes.filter(Boolean).length / minutes.length;
    expect(failing).toBeGreaterThan(0.08);
    expect(failing).toBeLessThan(0.25);
  });

  it('lets the slow station take seconds at times', () => {
    const plan = faultPlan(behaviourFaults.slow, 1);
    const prompt = jsonReply(200, {});
    const delays = Array.from({ length: 300 }, () =>
      plan({ filters: {}, offset: 0 }, NOW).reduce((reply, { onReply }) => onReply?.(reply) ?? reply, prompt),
    ).map(({ delayMs }) => delayMs);
    expect(Math.max(...delays)).toBeGreaterThan(4000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(6250);
    expect(delays.filter((ms) => ms > 700).length / 300).toBeLessThan(0.2);
  });
});
