import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type SimulateOptions, simulate } from '../../src/commands/simulate.ts';
import { NAMED_FAULTS, namedFault } from '../../src/simulator/faults.ts';

const NOW = Date.UTC(2024, 4, 1);

/** Faster to simulate than the demo stations. */
const SMALL = { stations: 1, resources: 200 };

/** Runs the simulated service while `use` runs. */
async function simulated<T>(
  seed: number,
  use: (printed: string) => Promise<T>,
  options: Partial<SimulateOptions> = {},
): Promise<T> {
  const stop = new AbortController();
  let done = Promise.resolve();
  const printed = new Promise<string>((print, fail) => {
    done = simulate({ port: 0, seed, print, signal: stop.signal, now: () => NOW, ...options });
    done.catch(fail);
  });
  try {
    return await use(await printed);
  } finally {
    stop.abort();
    await done;
  }
}

function listingUrl(printed: string): string {
  const { upstreams, stations } = parse(printed);
  const { upstream, subscription, resource_group, zone, telemetry_station } = stations[0];
  return `${upstreams[upstream].base_url}/monitor/ts/data/v1/subscriptions/${subscription}/resourceGroups/${resource_group}/zones/${zone}/telemetryStations/${telemetry_station}/resources?page.size=5`;
}

async function firstPage(printed: string) {
  const response = await fetch(listingUrl(printed));
  return (await response.json()) as {
    readonly resources: readonly unknown[];
    readonly page: { readonly total: number };
  };
}

/** The part of a page that arrives before the signal aborts. */
async function reply(printed: string, signal?: AbortSignal): Promise<string> {
  const url = listingUrl(printed).replace('page.size=5', 'page.size=50&page.offset=60');
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
  it('prints a configuration whose first station can be listed', async () => {
    const page = await simulated(1, firstPage);
    expect(page.resources).toHaveLength(5);
    expect(page.page.total).toBeGreaterThan(1000);
  });

  it('prints the URL of the service', async () => {
    const printed = await simulated(1, async (text) => text);
    expect(printed).toMatch(/^# Simulated service on http:\/\/127\.0\.0\.1:\d+\n/);
  });

  it('simulates the same resources for the same seed only', async () => {
    const page = await simulated(1, firstPage, SMALL);
    expect(await simulated(1, firstPage, SMALL)).toEqual(page);
    expect(await simulated(2, firstPage, SMALL)).not.toEqual(page);
  });

  it('simulates the requested number and size of stations', async () => {
    const sized = { stations: 3, resources: 100 };
    const printed = await simulated(1, async (text) => text, sized);
    expect(parse(printed).stations.map(({ name }: { name: string }) => name)).toEqual([
      'station-1',
      'station-2',
      'station-3',
    ]);
    const { total } = (await simulated(1, firstPage, sized)).page;
    expect(total).toBeGreaterThan(60);
    expect(total).toBeLessThan(140);
  });

  it('simulates the demo stations in another size', async () => {
    const { total } = (await simulated(1, firstPage, { resources: 50 })).page;
    expect(total).toBeLessThan(100);
  });

  it('limits the page size', async () => {
    expect((await simulated(1, firstPage, { ...SMALL, pageCap: 3 })).resources).toHaveLength(3);
  });

  it('delays responses by the latency', async () => {
    const waited = async (printed: string) => {
      const started = performance.now();
      await firstPage(printed);
      return performance.now() - started;
    };
    // Timers have a resolution of a millisecond.
    expect(await simulated(1, waited, { ...SMALL, latencyMs: 50 })).toBeGreaterThan(48);
  });

  it('injects faults into the given share of requests', async () => {
    const statuses = async (printed: string) => {
      const replies = await Promise.all(Array.from({ length: 40 }, () => fetch(listingUrl(printed))));
      return replies.map(({ status }) => status).toSorted();
    };
    const all = await simulated(1, statuses, { ...SMALL, faults: [namedFault('unavailable', 1)] });
    expect(new Set(all)).toEqual(new Set([503]));
    const some = await simulated(1, statuses, { ...SMALL, faults: [namedFault('rate_limited', 0.5)] });
    expect(new Set(some)).toEqual(new Set([200, 429]));
  });

  describe('with a fault', () => {
    let healthy: string;

    beforeAll(async () => {
      healthy = await simulated(1, (printed) => reply(printed), SMALL);
      expect(healthy).toContain('"total"');
    });

    it.concurrent.each(Object.keys(NAMED_FAULTS) as (keyof typeof NAMED_FAULTS)[])(
      'responds differently with %s',
      async (name) => {
        const faults = [namedFault(name, 1)];
        expect(
          await simulated(1, (printed) => reply(printed, AbortSignal.timeout(500)), { ...SMALL, faults }),
        ).not.toBe(healthy);
      },
    );
  });

  it('stops the service when the signal aborts', async () => {
    const url = await simulated(1, async (printed) => listingUrl(printed), SMALL);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('stops at once when the signal is already aborted', async () => {
    const printed: string[] = [];
    await simulate({ port: 0, seed: 1, print: (text) => printed.push(text), signal: AbortSignal.abort() });
    await expect(fetch(listingUrl(printed[0] ?? ''))).rejects.toThrow('fetch failed');
  });

  it('fails when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = simulate({ port, seed: 1, print: () => undefined, signal: AbortSignal.abort() });
    await expect(start).rejects.toThrow('EADDRINUSE');
    other.close();
  });
});
