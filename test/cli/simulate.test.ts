import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type SimulateOptions, simulate } from '../../src/commands/simulate.ts';
import { NAMED_FAULTS, namedFault } from '../../src/simulator/faults.ts';

const NOW = Date.UTC(2024, 4, 1);

/** Runs the simulated service for as long as `use` takes. */
async function simulated<T>(seed: number, use: (printed: string) => Promise<T>, options: Partial<SimulateOptions> = {}): Promise<T> {
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
  return (await response.json()) as { readonly resources: readonly unknown[]; readonly page: { readonly total: number } };
}

/** As much of a page as comes before the signal aborts. */
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
    // That it broke off shows in what there is.
  }
  return text;
}

describe('simulate', () => {
  it('prints a configuration whose first station can be listed', async () => {
    const page = await simulated(1, firstPage);
    expect(page.resources).toHaveLength(5);
    expect(page.page.total).toBeGreaterThan(1000);
  });

  it('tells where the service listens', async () => {
    const printed = await simulated(1, async (text) => text);
    expect(printed).toMatch(/^# Exports from the simulated service on http:\/\/127\.0\.0\.1:\d+\n/);
  });

  it('simulates the same world from the same seed, another from another', async () => {
    const page = await simulated(1, firstPage);
    expect(await simulated(1, firstPage)).toEqual(page);
    expect(await simulated(2, firstPage)).not.toEqual(page);
  });

  it('simulates as many stations of the size that is asked for', async () => {
    const sized = { stations: 3, resources: 100 };
    const printed = await simulated(1, async (text) => text, sized);
    expect(parse(printed).stations.map(({ name }: { name: string }) => name)).toEqual(['station-1', 'station-2', 'station-3']);
    const { total } = (await simulated(1, firstPage, sized)).page;
    expect(total).toBeGreaterThan(60);
    expect(total).toBeLessThan(140);
  });

  it('simulates the stations of the demo in another size', async () => {
    const { total } = (await simulated(1, firstPage, { resources: 50 })).page;
    expect(total).toBeLessThan(100);
  });

  it('sends no larger page than it may', async () => {
    expect((await simulated(1, firstPage, { pageCap: 3 })).resources).toHaveLength(3);
  });

  it('takes its time to answer', async () => {
    const waited = async (printed: string) => {
      const started = performance.now();
      await firstPage(printed);
      return performance.now() - started;
    };
    // Timers count whole milliseconds.
    expect(await simulated(1, waited, { latencyMs: 200 })).toBeGreaterThan(198);
  });

  it('fails with the faults that are asked for, as often as is asked for', async () => {
    const statuses = async (printed: string) => {
      const replies = await Promise.all(Array.from({ length: 40 }, () => fetch(listingUrl(printed))));
      return replies.map(({ status }) => status).toSorted();
    };
    const all = await simulated(1, statuses, { faults: [namedFault('unavailable', 1)] });
    expect(new Set(all)).toEqual(new Set([503]));
    const some = await simulated(1, statuses, { faults: [namedFault('rate_limited', 0.5)] });
    expect(new Set(some)).toEqual(new Set([200, 429]));
  });

  it.each(Object.keys(NAMED_FAULTS) as (keyof typeof NAMED_FAULTS)[])('knows the fault %s', async (name) => {
    const size = { stations: 1, resources: 200 };
    const healthy = await simulated(1, (printed) => reply(printed), size);
    expect(healthy).toContain('"total"');
    const faults = [namedFault(name, 1)];
    expect(await simulated(1, (printed) => reply(printed, AbortSignal.timeout(500)), { ...size, faults })).not.toBe(healthy);
  });

  it('stops the service when the signal aborts', async () => {
    const url = await simulated(1, async (printed) => listingUrl(printed));
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('ends at once when the signal was aborted before', async () => {
    const printed: string[] = [];
    await simulate({ port: 0, seed: 1, print: (text) => printed.push(text), signal: AbortSignal.abort() });
    await expect(fetch(listingUrl(printed[0] ?? ''))).rejects.toThrow('fetch failed');
  });

  it('fails when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = simulate({ port, seed: 1, print: () => undefined, signal: AbortSignal.abort() });
    await expect(start).rejects.toThrow('EADDRINUSE');
    other.close();
  });
});
