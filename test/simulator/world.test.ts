import { describe, expect, it } from 'vitest';
import { resourceKinds } from '../../src/simulator/resource-kinds.ts';
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

  it('has about the configured size, drifting slowly', () => {
    const sizes = Array.from({ length: 30 }, (_, day) => world.resources('big', NOON + day * DAY).length);
    for (const size of sizes) expect(Math.abs(size - 5000)).toBeLessThan(750);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeGreaterThan(100);
  });

  it('adds and removes resources within an hour, and keeps most for a day', () => {
    const now = new Set(ids(entries));
    const hourLater = ids(world.resources('big', NOON + 60 * MINUTE));
    expect(hourLater.filter((id) => !now.has(id)).length).toBeGreaterThan(50);
    expect(share(hourLater, (id) => now.has(id))).toBeGreaterThan(0.9);
    const dayLater = ids(world.resources('big', NOON + DAY));
    expect(share(dayLater, (id) => now.has(id))).toBeGreaterThan(0.65);
    expect(dayLater).not.toEqual(hourLater);
  });

  it('has every type in proportion to its weight', () => {
    const weights = resourceKinds.reduce((sum, { weight }) => sum + weight, 0);
    for (const { key, label, weight } of resourceKinds) {
      const of = entries.filter(({ record }) => record.resource_type.key === key);
      expect(of.every(({ record }) => record.resource_type.label === label)).toBe(true);
      expect(Math.abs(of.length / entries.length - weight / weights)).toBeLessThan(0.04);
    }
  });

  it('emphasises the configured category', () => {
    const storage = ({ record }: WorldEntry) => record.resource_type.key.startsWith('resource_type.storage.');
    expect(share(world.resources('small', NOON), storage)).toBeGreaterThan(1.5 * share(entries, storage));
  });

  it('is mostly inactive, sometimes pending, less often firing', () => {
    const state = (name: string) => share(entries, ({ record }) => record.state === `ALERTSTATE_${name}`);
    expect(state('INACTIVE')).toBeGreaterThan(0.9);
    expect(state('PENDING')).toBeGreaterThan(0.01);
    expect(state('FIRING')).toBeGreaterThan(0.002);
    expect(state('FIRING')).toBeLessThan(state('PENDING'));
    expect(state('INACTIVE') + state('PENDING') + state('FIRING')).toBeCloseTo(1);
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

  it('has gaps in its alert coverage', () => {
    const alertable = entries.filter(({ alertable }) => alertable);
    expect(share(entries, ({ alertable }) => alertable)).toBeGreaterThan(0.75);
    expect(alertable.length).toBeLessThan(entries.length);
    const uncovered = share(alertable, ({ record }) => record.alert_rules_count === 0);
    expect(uncovered).toBeGreaterThan(0.15);
    expect(uncovered).toBeLessThan(0.45);
  });

  it('has no rules and no alerts on resources that are not alertable', () => {
    const others = entries.filter(({ alertable }) => !alertable);
    expect(others.every(({ record }) => record.alert_rules_count === 0 && record.state === 'ALERTSTATE_INACTIVE')).toBe(
      true,
    );
  });

  it('adds rules to new resources after a while', () => {
    const before = new Set(ids(world.resources('big', NOON - 60 * MINUTE)));
    const rulesAt = (atMs: number) =>
      new Map(world.resources('big', atMs).map(({ record }) => [record.resource_id, record.alert_rules_count]));
    const young = ids(entries).filter((id) => !before.has(id));
    const [now, later] = [rulesAt(NOON), rulesAt(NOON + 20 * MINUTE)];
    const got = young.filter((id) => now.get(id) === 0 && (later.get(id) ?? 0) > 0);
    expect(got.length).toBeGreaterThan(5);
  });

  it('has GPUs on compute resources only, counted in the sku', () => {
    const gpu = entries.filter(({ record }) => record.gpu_model !== '');
    expect(new Set(gpu.map(({ record }) => record.gpu_model)).size).toBeGreaterThan(3);
    for (const { record } of gpu) {
      expect(record.sku).toMatch(/^[1248] GPU$/);
      expect(record.resource_type.key).toMatch(/^resource_type\.compute\./);
    }
  });

  it('has skus with quantities in several units, and free text', () => {
    const units = new Set(entries.map(({ record }) => /^\d+(?:\.\d+)? (\w+)$/.exec(record.sku)?.[1]));
    expect(units).toEqual(new Set([undefined, 'GPU', 'vCPU', 'cluster', 'GiB', 'TiB', 'Mbps', 'Gbps', 'connections']));
  });

  it('has products on most resources and none on some', () => {
    expect(share(entries, ({ product }) => product === '')).toBeLessThan(0.1);
    expect(entries.some(({ product }) => product === '')).toBe(true);
    expect(new Set(entries.map(({ product }) => product))).toContain('product.lepton-acp-new');
  });

  it('has display names that are partly Chinese, with dots and colons', () => {
    const named = (pattern: RegExp) => share(entries, ({ record }) => pattern.test(record.display_name));
    expect(named(/\p{Script=Han}/u)).toBeGreaterThan(0.3);
    expect(named(/\p{Script=Han}/u)).toBeLessThan(0.8);
    expect(named(/\./)).toBeGreaterThan(0.1);
    expect(named(/:/)).toBeGreaterThan(0.1);
  });

  it('has creation times with 3, 6 and 9 decimals', () => {
    const decimals = entries.map(
      ({ record }) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d+)Z$/.exec(record.create_time)?.[1]?.length,
    );
    expect(new Set(decimals)).toEqual(new Set([3, 6, 9]));
  });
});

function ids(entries: readonly WorldEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

function share<T>(all: readonly T[], fits: (one: T) => boolean): number {
  return all.filter(fits).length / all.length;
}
