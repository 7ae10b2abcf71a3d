import { type Figure, figure, median } from './figure.ts';
import { scrape } from './load.ts';
import { maxLoopDelay } from './refresh.ts';
import { type Setup, withSetup } from './setup.ts';

const RUNS = 9;
const SHAPE = { stations: 1, resourcesPerStation: 40_000 };

/** The event-loop delay while a service that ignores the page size returns a station in one page. */
export async function largePageFigures(): Promise<Figure[]> {
  const options = { shape: SHAPE, ttl: '0s' };
  const { usual, large } = await withSetup(options, (one) =>
    withSetup({ ...options, ignoreSize: true }, async (other) => {
      const setups = [one, other];
      const delays: number[][] = [[], []];
      for (let version = 1; version <= 2 + RUNS; version += 1) {
        // Alternating, so that a slowdown of the machine affects both.
        for (const [at, setup] of setups.entries()) {
          await setup.service.call('setVersion', version);
          const delay = version <= 2 ? await warmUp(setup) : await maxLoopDelay(setup);
          if (version > 2) delays[at]?.push(delay);
        }
      }
      return { usual: median(delays[0] ?? []), large: median(delays[1] ?? []) };
    }),
  );
  return [
    figure('maximum event-loop delay during a refresh of 40,000 resources in pages of 500', usual, 'ms', 25),
    figure('the same in one page', large, 'ms', 500),
  ];
}

async function warmUp({ port }: Setup): Promise<number> {
  return (await scrape(port)).ms;
}
