import { type Figure, figure } from './figure.ts';
import type { FleetShape } from './fleet.ts';
import { medianOf, scrape } from './load.ts';
import { withSetup } from './setup.ts';

const PAGES = 1000;
const PAGE_SIZE = 10;
const LATENCY_MS = 50;
const CONCURRENCY = 16;

const IDEAL_MS = Math.ceil(PAGES / CONCURRENCY) * LATENCY_MS;

/** How well listings use their connections: one long one, and many short ones that wait in the queue. */
export async function scheduleFigures(): Promise<Figure[]> {
  const oneListing = await refreshMs({ stations: 1, resourcesPerStation: PAGES * PAGE_SIZE });
  const oneStationPerPage = await refreshMs({ stations: PAGES, resourcesPerStation: PAGE_SIZE });
  return [
    figure('1,000 pages with 50 ms latency on 16 connections', oneListing, 'ms'),
    figure('relative to the ideal of 3,150 ms', oneListing / IDEAL_MS, '×', 1.1),
    figure('1,000 stations with one page each, with 50 ms latency on 16 connections', oneStationPerPage, 'ms'),
    figure('one page each relative to the ideal of 3,150 ms', oneStationPerPage / IDEAL_MS, '×', 1.1),
  ];
}

function refreshMs(shape: FleetShape): Promise<number> {
  const options = { shape, ttl: '0s', pageSize: PAGE_SIZE, concurrency: CONCURRENCY, latencyMs: LATENCY_MS };
  return withSetup(options, ({ port }) => medianOf(3, 1, async () => (await scrape(port)).ms));
}
