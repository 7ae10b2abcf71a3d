import { describe, expect, it } from 'vitest';
import { simulate } from '../e2e/running-program.ts';
import { resourcesPath } from '../simulator/client.ts';

type Simulated = Awaited<ReturnType<typeof simulate>>;

function request({ config: { upstreams, stations } }: Simulated, headers = {}): Promise<Response> {
  const [station] = stations;
  return fetch(`${upstreams[station.upstream].base_url}${resourcesPath(station)}?page.size=5`, { headers });
}

async function firstPage(simulated: Simulated) {
  return (await (await request(simulated)).json()) as {
    readonly resources: readonly { readonly resource_id: string }[];
    readonly page: { readonly total: number };
  };
}

describe('simulate', () => {
  it('prints its URL and a configuration whose first station can be listed, until a signal', async () => {
    const service = await simulate();
    const { resources, page } = await firstPage(service);
    expect(resources).toHaveLength(5);
    expect(page.total).toBeGreaterThan(1000);
    expect(service.output().stdout).toMatch(/^# Simulated service on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(service.output().stderr).toContain('\n  telemetry-station-exporter --config.file=config.yaml\n');
    service.signals.emit('SIGTERM');
    expect(await service.exit).toBe(0);
    await expect(firstPage(service)).rejects.toThrow('fetch failed');
  });

  it('simulates the requested number and size of stations, and the latency', async () => {
    const sizes = ['--simulate.stations=3', '--simulate.resources=100'];
    const service = await simulate(...sizes, '--simulate.latency=50ms');
    const names = service.config.stations.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['station-1', 'station-2', 'station-3']);
    const started = performance.now();
    const { page } = await firstPage(service);
    // Timers have a resolution of a millisecond.
    expect(performance.now() - started).toBeGreaterThan(48);
    expect(page.total).toBeGreaterThan(60);
    expect(page.total).toBeLessThan(140);
  });

  it('compresses replies with --compression, for clients that accept it', async () => {
    const codings = async (...flags: string[]) => {
      const service = await simulate(...flags);
      const replies = ['gzip', 'identity'].map((coding) => request(service, { 'accept-encoding': coding }));
      const received = (await Promise.all(replies)).map(async (reply) => {
        expect(await reply.json()).toHaveProperty('resources.4');
        return reply.headers.get('content-encoding');
      });
      return Promise.all(received);
    };
    expect(await codings('--compression')).toEqual(['gzip', null]);
    expect(await codings()).toEqual([null, null]);
  });

  it('injects the given fault', async () => {
    expect((await request(await simulate('--simulate.fault=unavailable'))).status).toBe(503);
  });
});
