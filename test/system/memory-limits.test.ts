import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { scrapeOf, startProgram } from '../e2e/built-program.ts';
import { configOf, wireRecord } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';
import { startService } from '../service/support/service.ts';
import { eventually, MINUTES } from '../web/eventually.ts';

/** Scrapes need not wait for the refreshes that they start. */
const BRIEFLY_SECONDS = 0.6;

const HEAP_MIB = 64;

/** What Node uses in the container of the chart: a page is parsed as a whole, and its records are several times larger than its bytes. */
const CONTAINER_HEAP_MIB = 256;

/** The built program with a small heap. */
async function start(config: object, heapMib = HEAP_MIB) {
  const file = temporaryFile('config.yaml', stringify(config));
  const flags = [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'];
  const { child, output, url } = startProgram({ node: [`--max-old-space-size=${heapMib}`] }, ...flags);
  const base = await url();
  return {
    scrape: () => {
      expect(child.exitCode ?? child.signalCode, output.stderr.slice(-2000)).toBeNull();
      return scrapeOf(base, BRIEFLY_SECONDS);
    },
  };
}

type Page = (offset: number) => string;

const recordsOf = (count: number, record: (index: number) => object) =>
  `{"resources":[${Array.from({ length: count }, (_, index) => JSON.stringify(record(index))).join(',')}]}`;

const LARGE_PAGES = 'pages of hundreds of thousands of ids';

/** Pages that have no end or are much larger in memory than on the wire. */
const BOMBS: Readonly<Record<string, Page>> = {
  'a listing without end': (offset) => recordsOf(1000, (index) => wireRecord(`id-${offset + index}`)),
  [LARGE_PAGES]: (offset) => recordsOf(500_000, (index) => ({ resource_id: `${offset + index}` })),
  'a page above max_page_bytes': () => recordsOf(2, () => wireRecord('a', { display_name: 'x'.repeat(9_000_000) })),
};

describe('telemetry-station-exporter with a small heap', () => {
  it.each(Object.keys(BOMBS))('survives %s, and other stations stay fresh', async (name) => {
    const good = recordsOf(3, (index) => wireRecord(`r${index}`));
    const pages = new Map<number, string>();
    const bomb = (offset: number) => {
      const page = pages.get(offset) ?? (BOMBS[name] as Page)(offset);
      pages.set(offset, page);
      return page;
    };
    const service = await startService((request, response) => {
      const { pathname, searchParams } = new URL(`${request.url}`, 'http://service');
      response.end(pathname.includes('/good') ? good : bomb(Number(searchParams.get('page.offset'))));
    });
    const config = configOf(`${service.url}`, ['bomb-1', 'bomb-2', 'good-1', 'good-2'], {
      upstream: { page_size: 1000, timeout: '60s' },
      cache: { ttl: '100ms', error_ttl: '100ms' },
    });
    const { scrape } = await start(config, name === LARGE_PAGES ? CONTAINER_HEAP_MIB : HEAP_MIB);
    const times = async (family: string) =>
      valuesOf(await scrape(), `telemetry_station_last_${family}_timestamp_seconds`, 'station');
    await eventually(async () => {
      const failures = valuesOf(await scrape(), 'telemetry_station_failure', 'station', 'reason');
      expect(failures).toMatchObject({ 'bomb-1|body': 1, 'bomb-2|body': 1, 'good-1|body': 0, 'good-2|body': 0 });
    });
    const before = await times('attempt');
    await eventually(async () => {
      const [attempts, successes] = [await times('attempt'), await times('success')];
      for (const bomb of ['bomb-1', 'bomb-2']) expect(attempts[bomb]).toBeGreaterThan(before[bomb] ?? 0);
      for (const good of ['good-1', 'good-2']) expect(successes[good]).toBeGreaterThan(before[good] ?? 0);
    });
  });

  it('survives a station whose resources are all others with every refresh', async () => {
    let pages = 0;
    const service = await startService((_request, response) => {
      pages += 1;
      response.end(
        recordsOf(5000, (index) => wireRecord(`${pages}-${index}`)).replace(/}$/, ',"page":{"total":5000}}'),
      );
    });
    const { scrape } = await start(configOf(`${service.url}`, ['ts'], { upstream: { page_size: 5000 } }));
    await eventually(async () => {
      const families = await scrape();
      expect(valuesOf(families, 'telemetry_station_resources_removed_total', 'station')['ts']).toBeGreaterThan(100_000);
      expect(valuesOf(families, 'telemetry_station_up', 'station')).toEqual({ ts: 1 });
    }, MINUTES);
  });
});
