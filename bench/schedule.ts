import type { Figure } from './figure.ts';
import { medianOf, scrape } from './load.ts';
import { withSetup } from './setup.ts';

const PAGES = 1000;
const PAGE_SIZE = 10;
const LATENCY_MS = 50;
const CONCURRENCY = 16;

/** How well a listing uses its connections. */
export async function scheduleFigures(): Promise<Figure[]> {
  const shape = { stations: 1, resourcesPerStation: PAGES * PAGE_SIZE };
  const options = { shape, ttl: '0s', pageSize: PAGE_SIZE, concurrency: CONCURRENCY, latencyMs: LATENCY_MS };
  const wallMs = await withSetup(options, ({ port }) => medianOf(3, 1, async () => (await scrape(port)).ms));
  const idealMs = Math.ceil(PAGES / CONCURRENCY) * LATENCY_MS;
  return [
    { name: '1,000 pages with 50 ms latency on 16 connections', value: wallMs, unit: 'ms' },
    { name: 'relative to the ideal of 3,150 ms', value: wallMs / idealMs, unit: '×', goal: { max: 1.1, text: 'at most 1.1 ×' } },
  ];
}
