import { expect } from 'vitest';
import { stringify } from 'yaml';
import { scrapeOf, startProgram } from '../../e2e/built-program.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { eventually, MINUTES } from '../../web/eventually.ts';
import { textOf } from '../../web/pages/opened-page.ts';

/** A station of the telemetry station with its name. */
export function stationOf(name: string, upstream = 'main', changes: object = {}) {
  return {
    name,
    upstream,
    subscription: 'sub',
    resource_group: 'rg',
    zone: 'z1',
    telemetry_station: name,
    ...changes,
  };
}

/** The built program after its first refreshes. Every scrape refreshes every station; all other values are the defaults. */
export async function startRealExporter(
  upstreams: object,
  stations: readonly { readonly name: string }[],
  ...flags: readonly string[]
) {
  const config = { upstreams, stations, cache: { ttl: '0s', error_ttl: '0s' } };
  const file = temporaryFile('config.yaml', stringify(config));
  const { output, url } = startProgram({}, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', ...flags);
  const address = await url();
  await eventually(async () => expect((await fetch(`${address}/-/ready`)).status, output.stderr).toBe(200), MINUTES);
  return {
    url: address,
    output,
    scrape: () => scrapeOf(address),
    /** The reasons of the refreshes of a station that failed. */
    failedRefreshes: async (station: string): Promise<string[]> => {
      const response = await fetch(`${address}/stations/${encodeURIComponent(station)}/refreshes?format=json`);
      const refreshes = (await response.json()) as { outcome: string; failure_reason: string }[];
      return refreshes.flatMap(({ outcome, failure_reason }) => (outcome === 'failed' ? failure_reason : []));
    },
    /** What the page of a station says, and what it says under “Needs attention”. */
    pageOf: async (station: string) => {
      const headers = { accept: 'text/html' };
      const page = await fetch(`${address}/stations/${encodeURIComponent(station)}`, { headers });
      const body = await page.text();
      return { text: textOf(body, 'content'), attention: textOf(body, 'attention') };
    },
  };
}

export type RealExporter = Awaited<ReturnType<typeof startRealExporter>>;
