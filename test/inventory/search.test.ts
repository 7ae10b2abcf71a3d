import { describe, expect, it } from 'vitest';
import {
  type Order,
  type SearchedStation,
  type SearchResult,
  type Selection,
  searchStations,
} from '../../src/inventory/selection.ts';
import { TaskQueue } from '../../src/tasks/task-queue.ts';
import { resourceOf, resourcesOf } from '../refresh/fixtures.ts';

const NEVER = new AbortController().signal;

const searched = (
  stations: readonly Omit<SearchedStation, 'alertability'>[],
  selection: Selection,
  order?: Order,
  signal = NEVER,
) => {
  const all = stations.map((station) => ({ ...station, alertability: false }));
  return searchStations(all, selection, order, new TaskQueue(), signal);
};

const search = (stations: readonly Omit<SearchedStation, 'alertability'>[], text: string, order?: Order) =>
  searched(stations, { search: text }, order);

const names = ({ found }: SearchResult) => found.map(({ station, resource }) => `${station} ${resource.id}`);

describe('searchStations', () => {
  const stations = [
    {
      name: 'b',
      parts: [[resourceOf('x1'), resourceOf('y', { name: 'VM-ÄX' })], [resourceOf('z', { displayName: 'the X box' })]],
    },
    { name: 'gone', parts: undefined },
    { name: 'empty', parts: [] },
    { name: 'a', parts: [[resourceOf('q'), resourceOf('x2')]] },
  ];

  it('finds a text in ID, name or display name in any case, in the order of the stations', async () => {
    const result = await search(stations, 'x');
    expect(names(result)).toEqual(['b x1', 'b y', 'b z', 'a x2']);
    expect(result.withoutData).toEqual(['gone']);
    expect(names(await search(stations, 'vm-äx'))).toEqual(['b y']);
    const hostile = '.*\\ \0\u202e<b>';
    const literal = [{ name: 's', parts: [[resourceOf(`a${hostile}b`), resourceOf('c')]] }];
    expect(names(await search(literal, hostile))).toEqual([`s a${hostile}b`]);
  });

  it('finds all resources of all stations, and sorts them across stations', async () => {
    const parts = [resourcesOf(700), [resourceOf('q')], resourcesOf(700)];
    const large = ['s0', 's1', 's2'].map((name) => ({ name, parts }));
    expect((await search(large, 'name-r')).found).toHaveLength(4200);
    const sorted = names(await search(stations, 'x', { by: 'id', descending: false }));
    expect(sorted).toEqual(['b x1', 'a x2', 'b y', 'b z']);
    const same = ['b', 'a'].map((name) => ({ name, parts: [[resourceOf('x')]] }));
    expect(names(await search(same, 'x', { by: 'id', descending: false }))).toEqual(['a x', 'b x']);
  });

  it('selects by any filter; a value that one station has exactly is no short form in another', async () => {
    const mixed = [
      { name: 'a', parts: [[resourceOf('1', { state: 'ALERTSTATE_FIRING' }), resourceOf('2', { state: 'OK' })]] },
      { name: 'b', parts: [[resourceOf('3', { state: 'firing' }), resourceOf('4', { state: 'X_FIRING' })]] },
    ];
    const result = await searched(mixed, { state: 'firing' });
    expect(names(result)).toEqual(['b 3']);
    const short = await searched(mixed.slice(0, 1), { state: 'firing' });
    expect(names(short)).toEqual(['a 1']);
  });

  it('ends at the next slice once the signal aborts, and rejects with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the client has disconnected');
    let read = 0;
    const counted = Array.from({ length: 100 }, (_, index) => ({
      ...resourceOf(`r${index}`),
      get displayName() {
        read += 1;
        if (read === 3) controller.abort(reason);
        return '';
      },
    }));
    const parts = counted.map((resource) => [resource, ...resourcesOf(1000)]);
    const result = searched([{ name: 's', parts }], { search: 'x' }, undefined, controller.signal);
    await expect(result).rejects.toBe(reason);
    expect(read).toBe(3);
  });
});
