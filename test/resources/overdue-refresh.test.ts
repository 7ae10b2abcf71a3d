import { describe, expect, it } from 'vitest';
import { ResourceCollector } from '../../src/resources/collector.ts';
import { listingOf, ManualClock, resourceOf, sourceWith, specOf } from '../stations/fixtures.ts';

const HOUR_MS = 3_600_000;
const NOW_SECONDS = 1_700_000_000;

/** A station whose listing never changes: of its resources, one is covered, and one becomes overdue in an hour. */
function unchangedStation() {
  const clock = new ManualClock();
  const listing = listingOf([
    resourceOf('covered', { createdSeconds: 0 }),
    resourceOf('due', { alertRules: 0, createdSeconds: NOW_SECONDS - 23 * 3600 }),
  ]);
  const encoded: (number | undefined)[] = [];
  const collector = new ResourceCollector(specOf({ coverageWithinMs: 24 * HOUR_MS }), {
    source: sourceWith(async () => listing),
    clock,
    encoder: {
      encode: async ({ aggregates }) => {
        encoded.push(aggregates.groups[0]?.overdue);
        return { families: new Map(), withheld: 0, withheldFiring: 0 };
      },
    },
  });
  const refresh = async (ms = 0) => {
    clock.advance(ms);
    const { served, commit } = await collector.collect({
      signal: new AbortController().signal,
    } as Parameters<typeof collector.collect>[0]);
    commit();
    return served;
  };
  return { refresh, encoded };
}

describe('ResourceCollector with coverage.within', () => {
  it('encodes an unchanged listing again only when a resource becomes overdue, or the clock is set back', async () => {
    const { refresh, encoded } = unchangedStation();
    const first = await refresh();
    expect((await refresh(HOUR_MS)).families).toBe(first.families);
    expect(encoded).toEqual([0]);
    const crossed = await refresh(1);
    expect(encoded).toEqual([0, 1]);
    expect((await refresh(100 * HOUR_MS)).families).toBe(crossed.families);
    await refresh(-101 * HOUR_MS);
    expect(encoded).toEqual([0, 1, 0]);
  });
});
