import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { simulate } from '../e2e/running-program.ts';

/** Faster to simulate than the demo stations. */
const SMALL = ['--simulate.stations=1', '--simulate.resources=200'];

type Simulated = Pick<Awaited<ReturnType<typeof simulate>>, 'config' | 'output'>;

/** Runs the simulated service while `use` runs. */
async function simulated<T>(use: (service: Simulated) => Promise<T>, ...flags: string[]): Promise<T> {
  const { signals, exit, ...service } = await simulate(...flags);
  const result = await use(service);
  signals.emit('SIGTERM');
  expect(await exit).toBe(0);
  return result;
}

function listingUrl({ config: { upstreams, stations } }: Simulated, query = 'page.size=5'): string {
  const { upstream, subscription, resource_group, zone, telemetry_station } = stations[0];
  return `${upstreams[upstream].base_url}/monitor/ts/data/v1/subscriptions/${subscription}/resourceGroups/${resource_group}/zones/${zone}/telemetryStations/${telemetry_station}/resources?${query}`;
}

async function firstPage(service: Simulated) {
  const response = await fetch(listingUrl(service));
  return (await response.json()) as {
    readonly resources: readonly { readonly resource_id: string }[];
    readonly page: { readonly total: number };
  };
}

/** The part of a page that arrives before the signal aborts. */
async function reply(service: Simulated, signal?: AbortSignal): Promise<string> {
  const url = listingUrl(service, 'page.size=110&page.offset=2');
  let text = '';
  try {
    const response = await fetch(url, signal ? { signal } : {});
    text = `${response.status} `;
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.length > 1_000_000) break;
    }
  } catch {
    // The text shows how much arrived.
  }
  return text;
}

describe('simulate', () => {
  it('prints its URL and a configuration whose first station can be listed, until a signal', async () => {
    const service = await simulated(async (running) => {
      const { resources, page } = await firstPage(running);
      expect(resources).toHaveLength(5);
      expect(page.total).toBeGreaterThan(1000);
      return running;
    });
    expect(service.output().stdout).toMatch(/^# Simulated service on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(service.output().stderr).toContain('\n  telemetry-station-exporter --config.file=config.yaml\n');
    await expect(fetch(listingUrl(service))).rejects.toThrow('fetch failed');
  });

  it('simulates the requested number and size of stations', async () => {
    const { total } = await simulated(
      async (service) => {
        const names = service.config.stations.map(({ name }: { name: string }) => name);
        expect(names).toEqual(['station-1', 'station-2', 'station-3']);
        return (await firstPage(service)).page;
      },
      '--simulate.stations=3',
      '--simulate.resources=100',
    );
    expect(total).toBeGreaterThan(60);
    expect(total).toBeLessThan(140);
  });

  it('limits the page size', async () => {
    expect((await simulated(firstPage, ...SMALL, '--simulate.page-cap=3')).resources).toHaveLength(3);
  });

  it('delays responses by the latency', async () => {
    const waited = async (service: Simulated) => {
      const started = performance.now();
      await firstPage(service);
      return performance.now() - started;
    };
    // Timers have a resolution of a millisecond.
    expect(await simulated(waited, ...SMALL, '--simulate.latency=50ms')).toBeGreaterThan(48);
  });

  /** What differs between two runs is the time. */
  const timeless = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+/g, 'TIME');

  let healthy: Promise<string> | undefined;

  it.concurrent.each(Object.keys(NAMED_FAULTS))('responds differently with %s', async (name) => {
    const faulty = simulated(
      (service) => reply(service, AbortSignal.timeout(2000)),
      ...SMALL,
      `--simulate.fault=${name}`,
    );
    healthy ??= simulated(reply, ...SMALL);
    expect(await healthy).toContain('"total"');
    expect(timeless(await faulty)).not.toBe(timeless(await healthy));
  });
});
