import { describe, expect, it } from 'vitest';
import { isOnShard } from '../../src/stations/shard.ts';

const stations = Array.from({ length: 300 }, (_, index) => `station-${index}`);
const shardOf = (station: string, total: number) =>
  Array.from({ length: total }, (_, ordinal) => ordinal).filter((ordinal) => isOnShard(station, { ordinal, total }));

describe('isOnShard', () => {
  it('puts each station on exactly one shard, evenly distributed', () => {
    const owners = stations.map((station) => shardOf(station, 3));
    expect(owners.every((owner) => owner.length === 1)).toBe(true);
    for (const ordinal of [0, 1, 2]) expect(owners.filter(([owner]) => owner === ordinal).length).toBeGreaterThan(70);
  });

  it('keeps each station on its shard with every version: another one would start anew', () => {
    const owners = stations.slice(0, 9).map((station) => shardOf(station, 3)[0]);
    expect(owners).toEqual([1, 0, 2, 0, 2, 2, 0, 2, 1]);
  });

  it('moves stations only to the new shard when one is added', () => {
    const moved = stations.filter((station) => shardOf(station, 3)[0] !== shardOf(station, 4)[0]);
    expect(moved.length).toBeLessThan(100);
    expect(moved.every((station) => shardOf(station, 4)[0] === 3)).toBe(true);
  });
});
