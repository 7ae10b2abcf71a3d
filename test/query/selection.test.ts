import { describe, expect, it } from 'vitest';
import { type SearchedStation, type SearchResult, type Selection, searchStations } from '../../src/query/selection.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { iterationsDuring } from '../event-loop.ts';
import { resourceOf, resourcesOf } from '../stations/fixtures.ts';

const idsOf = async (parts: readonly (readonly Resource[])[], selection: Selection, sort?: string) => {
  const { found } = await searchStations([{ name: '', parts, alertability: false }], selection, sort);
  return (await found.rows()).map(({ resource }) => resource.id);
};

describe('searchStations in one station', () => {
  const parts = [
    [
      resourceOf('b', {
        name: 'vm-1',
        displayName: '训练 One',
        type: 'type.a',
        state: 'FIRING',
        alertRules: 0,
        alertable: true,
      }),
      resourceOf('a', {
        name: 'vm-2',
        displayName: 'two',
        type: '',
        state: '',
        alertRules: undefined,
        product: 'p',
        createdSeconds: 5,
      }),
    ],
    [],
    [
      resourceOf('C', {
        name: 'DISK',
        displayName: '',
        type: 'type.b',
        alertRules: 12,
        alertable: false,
        createdSeconds: undefined,
      }),
    ],
  ];

  it.each<[Selection, string[]]>([
    [{}, ['b', 'a', 'C']],
    [{ search: '' }, ['b', 'a', 'C']],
    [{ type: 'type.b' }, ['C']],
    [{ type: '' }, ['a']],
    [{ product: 'p' }, ['a']],
    [{ state: 'FIRING' }, ['b']],
    [{ alertable: 'yes' }, ['b']],
    [{ alertable: 'no' }, ['C']],
    [{ alertable: 'unknown' }, ['a']],
    [{ without_rules: 'yes' }, ['b']],
    [{ without_rules: 'unknown' }, ['a']],
    [{ without_rules: 'no' }, []],
    [{ search: 'vm', product: 'p' }, ['a']],
  ])('selects by %j', async (selection, ids) => {
    expect(await idsOf(parts, selection)).toEqual(ids);
  });

  it.each<[Selection, string[]]>([
    [{ state: 'firing' }, ['a']],
    [{ type: 'instance' }, ['b', 'c']],
    [{ type: 'Type.Compute.AEC2' }, ['c']],
    [{ type: 'nstance' }, []],
    [{ type: 'instance', state: 'pending' }, ['b']],
    [{ product: 'lepton' }, ['a', 'b']],
    [{ type: '.' }, []],
  ])('selects by the short form %j', async (selection, ids) => {
    const short = [
      [resourceOf('a', { type: 'type.network.eip.v1.eip', state: 'ALERTSTATE_FIRING', product: 'product.lepton-acp' })],
      [
        resourceOf('b', {
          type: 'type.compute.workspace.v1.instance',
          state: 'pending',
          product: 'product.lepton.web',
        }),
        resourceOf('c', { type: 'type.compute.aec2.v1.instance', state: '3' }),
      ],
    ];
    expect(await idsOf(short, selection)).toEqual(ids);
  });

  it.each<[string, string[], string[]]>([
    ['resource_id', ['C', 'a', 'b'], ['b', 'a', 'C']],
    ['name', ['C', 'b', 'a'], ['a', 'b', 'C']],
    ['resource_type', ['b', 'C', 'a'], ['C', 'b', 'a']],
    ['alert_rules', ['b', 'C', 'a'], ['C', 'b', 'a']],
    ['created', ['a', 'b', 'C'], ['b', 'a', 'C']],
    ['sku', ['C', 'a', 'b'], ['C', 'a', 'b']],
  ])('sorts by %s, with unknown values last in both directions', async (by, ascending, descending) => {
    expect(await idsOf(parts, {}, by)).toEqual(ascending);
    expect(await idsOf(parts, {}, `-${by}`)).toEqual(descending);
  });

  it('selects and sorts by what states mean, the most urgent first and the unknown last', async () => {
    const states = ['ALERTSTATE_INACTIVE', 'ESCALATED', 'ALERTSTATE_PENDING', '', 'NOW_FIRING'];
    const several = [states.map((state, at) => resourceOf(`${at}`, { state }))];
    expect(await idsOf(several, {}, 'alert_state')).toEqual(['4', '2', '0', '1', '3']);
    expect(await idsOf(several, {}, '-alert_state')).toEqual(['0', '2', '4', '1', '3']);
    expect(await idsOf(several, { alert_state: 'unknown' })).toEqual(['1', '3']);
    expect(await idsOf(several, { alert_state: 'firing' })).toEqual(['4']);
  });
});

describe('searchStations', () => {
  type Station = Omit<SearchedStation, 'alertability'>;

  const search = (stations: readonly Station[], selection: Selection, sort?: string, signal?: AbortSignal) => {
    const all = stations.map((station) => ({ ...station, alertability: false }));
    return searchStations(all, selection, sort, signal);
  };

  const names = async ({ found }: SearchResult) =>
    (await found.rows()).map(({ station, resource }) => `${station} ${resource.id}`);

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
    const result = await search(stations, { search: 'x' });
    expect(await names(result)).toEqual(['b x1', 'b y', 'b z', 'a x2']);
    expect([result.foundStations, result.withoutData]).toEqual([2, ['gone']]);
    expect(await names(await search(stations, { search: 'vm-äx' }))).toEqual(['b y']);
    const unusual = '.*\\ \0\u202e<b>';
    const literal = [{ name: 's', parts: [[resourceOf(`a${unusual}b`), resourceOf('c')]] }];
    expect(await names(await search(literal, { search: unusual }))).toEqual([`s a${unusual}b`]);
  });

  it('sorts resources across stations, equal ones by station', async () => {
    expect(await names(await search(stations, { search: 'x' }, 'resource_id'))).toEqual(['b x1', 'a x2', 'b y', 'b z']);
    const same = ['b', 'a'].map((name) => ({ name, parts: [[resourceOf('x')]] }));
    expect(await names(await search(same, {}, 'resource_id'))).toEqual(['a x', 'b x']);
  });

  it('does not take a value that one station has exactly for a short form in another', async () => {
    const mixed = [
      { name: 'a', parts: [[resourceOf('1', { state: 'ALERTSTATE_FIRING' }), resourceOf('2', { state: 'OK' })]] },
      { name: 'b', parts: [[resourceOf('3', { state: 'firing' }), resourceOf('4', { state: 'X_FIRING' })]] },
    ];
    expect(await names(await search(mixed, { state: 'firing' }))).toEqual(['b 3']);
    expect(await names(await search(mixed.slice(0, 1), { state: 'firing' }))).toEqual(['a 1']);
  });

  it('lets other events be handled while it searches many small stations', async () => {
    const small = Array.from({ length: 40 }, (_, at) => ({ name: `s${at}`, parts: [resourcesOf(250)] }));
    expect(await iterationsDuring(() => search(small, { search: 'none' }))).toBeGreaterThan(6);
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
    const result = search([{ name: 's', parts }], { search: 'x' }, undefined, controller.signal);
    await expect(result).rejects.toBe(reason);
    expect(read).toBe(3);
  });
});
