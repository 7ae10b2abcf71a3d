import type { Figure } from './figure.ts';
import { scrape } from './load.ts';
import { onStage } from './stage.ts';

const SCRAPERS = 200;
const MIB = 1024 * 1024;

/** Many scrapers at once, each of which reads the same bytes. */
export async function scrapersFigures(): Promise<Figure[]> {
  return onStage({}, async ({ exporter, port }) => {
    await scrape(port);
    const peak = async (scrapers: number) => {
      let most = 0;
      let done = false;
      const watch = (async () => {
        while (!done) most = Math.max(most, await exporter.call('resident'));
      })();
      await Promise.all(Array.from({ length: scrapers }, () => scrape(port)));
      done = true;
      await watch;
      return most;
    };
    const one = await peak(1);
    const many = await peak(SCRAPERS);
    return [
      {
        name: `${SCRAPERS} scrapers at once, all served: memory over one`,
        value: (many - one) / MIB,
        unit: 'MiB',
        goal: { most: 64, text: 'at most + 64 MiB' },
      },
    ];
  });
}
