import { describe, expect, it } from 'vitest';
import { type FleetEntry, SimulatedFleet } from '../../lab/simulator/fleet.ts';

const NOON = Date.UTC(2026, 4, 13, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const big = new SimulatedFleet(42, { name: 'big', size: 5000 });
const small = (seed = 42, name = 'small') => new SimulatedFleet(seed, { name, size: 300, emphasis: 'storage' });

describe('SimulatedFleet', () => {
  it('depends on the seed and on the station, not on what was queried before', () => {
    const used = small();
    for (const atMs of [NOON + DAY, NOON - 400 * DAY, NOON + 90 * MINUTE]) used.at(atMs);
    expect(used.at(NOON)).toEqual(small().at(NOON));
    const lists = [used, small(43), small(42, 'twin')].map((fleet) => `${ids(fleet.at(NOON))}`);
    expect(new Set(lists).size).toBe(3);
  });

  it('returns the same list within a tick', () => {
    expect(big.at(NOON + 9999)).toBe(big.at(NOON));
  });

  it('adds and removes resources within an hour, and keeps most for a day', () => {
    const now = new Set(ids(big.at(NOON)));
    const hourLater = ids(big.at(NOON + 60 * MINUTE));
    expect(hourLater.filter((id) => !now.has(id)).length).toBeGreaterThan(50);
    expect(share(hourLater, (id) => now.has(id))).toBeGreaterThan(0.9);
    const dayLater = ids(big.at(NOON + DAY));
    expect(share(dayLater, (id) => now.has(id))).toBeGreaterThan(0.65);
    expect(dayLater).not.toEqual(hourLater);
  });

  it('changes states over time, pending before firing', () => {
    const idsIn = (state: string, atMs: number) => ids(big.at(atMs).filter(({ record }) => record.state === state));
    const firing = idsIn('ALERTSTATE_FIRING', NOON);
    const hourBefore = Array.from({ length: 60 }, (_, index) => NOON - (index + 1) * MINUTE);
    const pending = new Set(hourBefore.flatMap((atMs) => idsIn('ALERTSTATE_PENDING', atMs)));
    expect(firing.filter((id) => !pending.has(id))).toEqual([]);
    expect(idsIn('ALERTSTATE_FIRING', NOON + 60 * MINUTE)).not.toEqual(firing);
  });
});

function ids(entries: readonly FleetEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

function share<T>(all: readonly T[], fits: (one: T) => boolean): number {
  return all.filter(fits).length / all.length;
}
