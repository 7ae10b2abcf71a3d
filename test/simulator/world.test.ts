import { describe, expect, it } from 'vitest';
import { createWorld, type WorldEntry } from '../../src/simulator/world.ts';

const NOON = Date.UTC(2026, 4, 13, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const stations = [
  { name: 'big', size: 5000 },
  { name: 'small', size: 300, emphasis: 'storage' as const },
];
const world = createWorld({ seed: 42, stations });

describe('createWorld', () => {
  it('is deterministic, whatever was queried before', () => {
    const used = createWorld({ seed: 42, stations });
    for (const atMs of [NOON + DAY, NOON - 400 * DAY, NOON + 90 * MINUTE]) used.resources('small', atMs);
    expect(used.resources('small', NOON)).toEqual(createWorld({ seed: 42, stations }).resources('small', NOON));
  });

  it('depends on the seed and on the station', () => {
    const other = createWorld({ seed: 43, stations: [...stations, { name: 'twin', size: 300, emphasis: 'storage' }] });
    expect(ids(other.resources('small', NOON))).not.toEqual(ids(world.resources('small', NOON)));
    expect(ids(other.resources('twin', NOON))).not.toEqual(ids(other.resources('small', NOON)));
  });

  it('returns the same list within a tick', () => {
    expect(world.resources('big', NOON + 9999)).toBe(world.resources('big', NOON));
  });

  it('throws for an unknown station', () => {
    expect(() => world.resources('nowhere', NOON)).toThrow('unknown simulated station nowhere');
  });

  it('gives every resource a unique id and name', () => {
    const entries = [...world.resources('big', NOON), ...world.resources('small', NOON)];
    expect(new Set(ids(entries)).size).toBe(entries.length);
    expect(new Set(entries.map(({ record }) => record.name)).size).toBe(entries.length);
  });

  it('numbers and orders the resources with sequential names', () => {
    const numbered = createWorld({ seed: 42, stations, naming: 'sequential' }).resources('big', NOON);
    expect(numbered).toHaveLength(world.resources('big', NOON).length);
    expect(ids(numbered)).toEqual([...new Set(ids(numbered))].sort());
    expect(numbered.every(({ record }) => /^web-\d{6}$/.test(record.name))).toBe(true);
  });

  it('lists by creation time, never in the future', () => {
    const created = world.resources('big', NOON).map(({ record }) => Date.parse(record.create_time));
    expect(created).toEqual(created.toSorted((one, other) => one - other));
    expect(created.at(-1)).toBeLessThanOrEqual(NOON);
  });
});

describe('a fleet', () => {
  const entries = world.resources('big', NOON);

  it('adds and removes resources within an hour, and keeps most for a day', () => {
    const now = new Set(ids(entries));
    const hourLater = ids(world.resources('big', NOON + 60 * MINUTE));
    expect(hourLater.filter((id) => !now.has(id)).length).toBeGreaterThan(50);
    expect(share(hourLater, (id) => now.has(id))).toBeGreaterThan(0.9);
    const dayLater = ids(world.resources('big', NOON + DAY));
    expect(share(dayLater, (id) => now.has(id))).toBeGreaterThan(0.65);
    expect(dayLater).not.toEqual(hourLater);
  });

  it('changes states over time, pending before firing', () => {
    const firing = entries
      .filter(({ record }) => record.state === 'ALERTSTATE_FIRING')
      .map(({ record }) => record.resource_id);
    const seenPending = new Set<string>();
    for (let minute = 1; minute <= 60; minute += 1) {
      for (const { record } of world.resources('big', NOON - minute * MINUTE)) {
        if (record.state === 'ALERTSTATE_PENDING') seenPending.add(record.resource_id);
      }
    }
    expect(firing.filter((id) => !seenPending.has(id))).toEqual([]);
    const hourLater = world
      .resources('big', NOON + 60 * MINUTE)
      .filter(({ record }) => record.state === 'ALERTSTATE_FIRING');
    expect(ids(hourLater)).not.toEqual(firing);
  });
});

function ids(entries: readonly WorldEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

function share<T>(all: readonly T[], fits: (one: T) => boolean): number {
  return all.filter(fits).length / all.length;
}
