import { startSimulatedService } from '../../src/simulator/service.ts';
import { createWorld, type WorldEntry } from '../../src/simulator/world.ts';
import { configOf, startExporter } from '../e2e/test-bed.ts';

const PRODUCTS = ['product.lepton-acp', 'product.aec2', 'product.afs'];

/** A station of 10,000 resources, and its records as the service holds them. */
export async function largeStation() {
  const world = createWorld({ seed: 3, stations: [{ name: 'large', size: 12_000 }] });
  const entries = world.resources('large', Date.UTC(2026, 0, 15, 12)).slice(0, 10_000);
  const service = await startSimulatedService({ source: () => entries });
  const station = { products: PRODUCTS, alertability: true };
  const exporter = await startExporter(configOf(service.url, ['large'], { upstream: { page_size: 1000 }, station, cache: { ttl: '1h' } }));
  await exporter.scrape();
  const stop = async () => {
    await exporter.stop();
    await service.stop();
  };
  return { entries, url: `${exporter.url}/stations/large`, stop };
}

/** The product that the exporter can know of. */
export function productOf({ product }: WorldEntry): string {
  return PRODUCTS.includes(product) ? product : '';
}

export function idsOf(entries: readonly WorldEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

/** How many entries there are of each kind, as the bars of the page tell it. */
export function countsBy(entries: readonly WorldEntry[], kind: (entry: WorldEntry) => string): Record<string, string> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(kind(entry) || '(none)', (counts.get(kind(entry) || '(none)') ?? 0) + 1);
  return Object.fromEntries(Array.from(counts, ([key, count]) => [key, count.toLocaleString('en-US')]));
}
