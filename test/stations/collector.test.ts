import { describe, expect, it } from 'vitest';
import type { SegmentsByFamily } from '../../src/exposition/segment.ts';
import type { Collected, MetricsOnly, StationCollector } from '../../src/stations/collector.ts';
import { StationCache } from '../../src/stations/station-cache.ts';
import { specOf } from './fixtures.ts';

/** A collector of one family, with the times that its refreshes were committed. */
function collectorOfFamily(name: string, work: () => unknown = () => undefined) {
  const families: SegmentsByFamily = new Map([[name, []]]);
  const committed: string[] = [];
  const served = { data: undefined, families, withheld: 1, repeated: [{ pages: 2, intervalMs: 60_000 }] };
  const collector: StationCollector<MetricsOnly> = {
    name,
    collect: async (context): Promise<Collected<MetricsOnly>> => {
      context.started();
      await work();
      return { served, report: undefined, commit: () => committed.push(name) };
    },
    adopt: () => undefined,
  };
  return { collector, families, committed };
}

const cacheOf = (collector: StationCollector<MetricsOnly>, changes: Parameters<typeof specOf>[0] = {}) =>
  new StationCache<MetricsOnly>(specOf(changes), { collector });

describe('StationCache with a collector', () => {
  it('commits a refresh that ends, and none that ends after the station was closed', async () => {
    const { collector, committed } = collectorOfFamily('a');
    const cache = cacheOf(collector);
    await cache.refresh();
    expect(committed).toEqual(['a']);
    const late = collectorOfFamily('b', () => closed.close());
    const closed = cacheOf(late.collector);
    await closed.refresh();
    expect(late.committed).toEqual([]);
    expect(closed.view().served).toBeUndefined();
  });

  it('does not end the encoding of what was read in time when the refresh times out', async () => {
    const { collector } = collectorOfFamily('a', () => new Promise((resolve) => setTimeout(resolve, 20)));
    const cache = cacheOf(collector, { refreshTimeoutMs: 1 });
    await cache.refresh();
    expect(cache.view()).toMatchObject({ health: { failure: undefined }, served: { withheld: 1 } });
  });
});
