import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { simulate } from '../../src/cli/simulate.ts';

const NOW = Date.UTC(2024, 4, 1);

/** Runs the simulated service for as long as `use` takes. */
async function simulated<T>(seed: number, use: (printed: string) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let done = Promise.resolve();
  const printed = new Promise<string>((print, fail) => {
    done = simulate({ port: 0, seed, print, signal: stop.signal, now: () => NOW });
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
