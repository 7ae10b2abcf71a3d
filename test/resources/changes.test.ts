import { describe, expect, it } from 'vitest';
import { ChangeLog } from '../../src/resources/changes.ts';
import { largestIterated, resourceOf } from '../stations/fixtures.ts';

const limits = { changes: 10, changes_per_station: 4 };

/** The changes of a refresh that added or removed these resources, and so many more than its list has. */
function changesOf(change: 'added' | 'removed', ids: string, further = 0) {
  const list = Array.from(ids, (id) => ({ change, resource: resourceOf(id), from: undefined, to: '' }));
  const total = ids.length + further;
  return { list, total, removedOwners: change === 'removed' ? [{ labels: undefined, total }] : [] };
}

const addedOf = (ids: string, further = 0) => changesOf('added', ids, further);
const removedOf = (ids: string, further = 0) => changesOf('removed', ids, further);

const shown = (log: ChangeLog, station: string) => {
  const { newestFirst, dropped } = log.of(station);
  return [newestFirst.map(({ atMs, resource }) => `${atMs}${resource.id}`).join(' '), dropped];
};

describe('ChangeLog', () => {
  it('keeps the latest changes of each station, the newest first, and counts those it dropped', () => {
    const log = new ChangeLog(limits);
    log.add('prod', 1, addedOf('ab'));
    log.add('prod', 2, addedOf(''));
    log.add('prod', 3, addedOf('cde', 100));
    log.add('test', 4, addedOf('x'));
    expect([shown(log, 'prod'), shown(log, 'test'), shown(log, 'none')]).toEqual([
      ['3e 3d 3c 1b', 101],
      ['4x', 0],
      ['', 0],
    ]);
  });

  it('keeps the removed resources of a loss when these and others come back', () => {
    const log = new ChangeLog(limits);
    log.add('prod', 1, removedOf('abcd', 1));
    log.add('prod', 2, addedOf('abcdef'));
    expect(shown(log, 'prod')).toEqual(['2f 2e 2d 2c 1d 1c 1b 1a', 3]);
    expect(log.of('prod')).toMatchObject({
      droppedRemovals: 1,
      removals: [{ atMs: 1, owners: [{ labels: undefined, total: 5 }] }],
    });
  });

  it('knows whose resources the latest refreshes removed although none of these changes is kept', () => {
    const log = new ChangeLog({ changes: 0, changes_per_station: 4 });
    log.add('prod', 1, removedOf('abcd', 1246));
    expect(log.of('prod')).toMatchObject({
      newestFirst: [],
      removals: [{ atMs: 1, owners: [{ total: 1250 }] }],
      droppedRemovals: 1250,
    });
    for (let refresh = 2; refresh < 200; refresh += 1) log.add('prod', refresh, removedOf('x'));
    expect(log.of('prod').removals.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 50 }, (_, at) => 150 + at));
  });

  it('drops the oldest of the stations that have most when all of them have too many', () => {
    const log = new ChangeLog(limits);
    log.add('quiet', 1, addedOf('q'));
    // They have no share: they have no changes of this category.
    for (const station of ['x', 'y']) log.add(station, 1, removedOf('r'));
    for (const station of ['a', 'b', 'c']) log.add(station, 2, addedOf('1234'));
    expect(['quiet', 'a', 'b', 'c'].map((station) => log.of(station).newestFirst.length)).toEqual([1, 2, 3, 4]);
    log.add('quiet', 3, addedOf('rst'));
    expect(shown(log, 'quiet')).toEqual(['3t 3s 3r', 1]);
    expect(['a', 'b', 'c'].map((station) => log.of(station).newestFirst.length)).toEqual([2, 3, 2]);
  });

  it('looks at no other station when one of 10,000 changes and there is room', () => {
    const log = new ChangeLog({ changes: 100_000, changes_per_station: 4 });
    for (let station = 0; station < 10_000; station += 1) log.add(`${station}`, 1, addedOf('x'));
    expect(largestIterated(() => log.add('7', 2, addedOf('y')))).toBe(0);
    expect(shown(log, '7')).toEqual(['2y 1x', 0]);
  });

  it('follows a reload: other limits, and nothing of a station that was removed and added again', () => {
    const log = new ChangeLog(limits);
    for (const station of ['a', 'b']) log.add(station, 1, addedOf('1234'));
    log.retainStations(new Set(['a']), { changes: 3, changes_per_station: 4 });
    expect([shown(log, 'a'), shown(log, 'b')]).toEqual([
      ['14 13 12', 1],
      ['', 0],
    ]);
    for (const station of ['a', 'b']) log.add(station, 2, removedOf('x'));
    log.retainStations(new Set(['a']), { changes: 3, changes_per_station: 4 });
    expect(['a', 'b'].map((station) => log.of(station).removals.length)).toEqual([1, 0]);
    log.retainStations(new Set(['a']), { changes: 0, changes_per_station: 4 });
    log.add('a', 2, addedOf('5'));
    expect(shown(log, 'a')).toEqual(['', 6]);
  });
});
