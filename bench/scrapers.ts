import { type Figure, figure } from './figure.ts';
import { scrape } from './load.ts';
import { withSetup } from './setup.ts';

const SCRAPERS = 200;
const MIB = 1024 * 1024;

/** Peak memory of many concurrent scrapes. */
export async function scrapersFigures(): Promise<Figure[]> {
  return withSetup({}, async ({ exporter, port }) => {
    await scrape(port);
    const peak = async (scrapers: number) => {
      let maximum = 0;
      let done = false;
      const sampling = (async () => {
        while (!done) maximum = Math.max(maximum, await exporter.call('resident'));
      })();
      await Promise.all(Array.from({ length: scrapers }, () => scrape(port)));
      done = true;
      await sampling;
      return maximum;
    };
    const one = await peak(1);
    const many = await peak(SCRAPERS);
    return [
      figure(
        `${SCRAPERS} concurrent scrapes, peak memory over a single scrape`,
        (many - one) / MIB,
        'MiB',
        64,
        'at most + 64 MiB',
      ),
    ];
  });
}
