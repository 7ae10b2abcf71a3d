import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Order,
  parseOrder,
  type Selection,
  SORT_KEYS,
  type SortKey,
  selectResources,
  shortFormTest,
  unmatchedFilters,
} from '../../src/inventory/selection.ts';
import type { Resource } from '../../src/model/resource.ts';
import { TaskQueue } from '../../src/tasks/task-queue.ts';
import { resourceOf } from '../refresh/fixtures.ts';

const idsOf = async (parts: readonly (readonly Resource[])[], selection: Selection, order?: Order) =>
  (await selectResources({ parts, alertability: false }, selection, order, new TaskQueue())).map(({ id }) => id);

describe('selectResources', () => {
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
    [{ search: 'c' }, ['C']],
    [{ search: 'VM-' }, ['b', 'a']],
    [{ search: '训练 one' }, ['b']],
    [{ search: '' }, ['b', 'a', 'C']],
    [{ type: 'type.b' }, ['C']],
    [{ type: '' }, ['a']],
    [{ product: 'p' }, ['a']],
    [{ product: '' }, ['b', 'C']],
    [{ state: 'FIRING' }, ['b']],
    [{ alertable: 'yes' }, ['b']],
    [{ alertable: 'no' }, ['C']],
    [{ alertable: 'unknown' }, ['a']],
    [{ without_rules: 'yes' }, ['b']],
    [{ search: 'vm', product: 'p' }, ['a']],
  ])('selects by %j', async (selection, ids) => {
    expect(await idsOf(parts, selection)).toEqual(ids);
  });

  it.each<[Selection, string[]]>([
    [{ state: 'firing' }, ['a']],
    [{ state: 'FIRING' }, ['a']],
    [{ state: 'pending' }, ['b']],
    [{ state: 'ALERTSTATE' }, ['a']],
    [{ type: 'eip' }, ['a']],
    [{ type: 'instance' }, ['b', 'c']],
    [{ type: 'compute' }, ['b', 'c']],
    [{ type: 'Type.Compute.AEC2' }, ['c']],
    [{ type: 'nstance' }, []],
    [{ type: 'instance', state: 'pending' }, ['b']],
    [{ product: 'lepton-acp' }, ['a']],
    [{ product: 'lepton' }, ['a', 'b']],
    [{ type: '' }, []],
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

  it('prefers the exact value to those that it is short for, wherever it is listed', async () => {
    const both = [
      [resourceOf('a', { type: 'x.eip' })],
      [resourceOf('b', { type: 'eip' }), resourceOf('c', { type: 'EIP' })],
    ];
    expect(await idsOf(both, { type: 'eip' })).toEqual(['b']);
    expect(await idsOf(both, { type: 'Eip' })).toEqual(['a', 'b', 'c']);
  });

  it.each<[SortKey, string[], string[]]>([
    ['id', ['C', 'a', 'b'], ['b', 'a', 'C']],
    ['name', ['C', 'b', 'a'], ['a', 'b', 'C']],
    ['type', ['b', 'C', 'a'], ['C', 'b', 'a']],
    ['alert_rules', ['b', 'C', 'a'], ['C', 'b', 'a']],
    ['created', ['a', 'b', 'C'], ['b', 'a', 'C']],
    ['sku', ['C', 'a', 'b'], ['C', 'a', 'b']],
  ])('sorts by %s, with unknown values last in both directions', async (by, ascending, descending) => {
    expect(await idsOf(parts, {}, { by, descending: false })).toEqual(ascending);
    expect(await idsOf(parts, {}, { by, descending: true })).toEqual(descending);
  });

  it('sorts any division into parts like one list', async () => {
    const resource = fc.record({
      type: fc.constantFrom('', 'x', 'y', 'z'),
      alertRules: fc.option(fc.nat(3), { nil: undefined }),
    });
    const order = fc.record({
      by: fc.constantFrom(...(Object.keys(SORT_KEYS) as SortKey[])),
      descending: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(resource, { maxLength: 6 }), { maxLength: 7 }), order, async (drawn, by) => {
        let id = 0;
        const drawnParts = drawn.map((part) => part.map((changes) => resourceOf(String(id++), changes)));
        expect(await idsOf(drawnParts, {}, by)).toEqual(await idsOf([drawnParts.flat()], {}, by));
      }),
      { numRuns: 60 },
    );
  });

  it('merges sorted parts in tasks of about 1,000 comparisons, however many resources there are', async () => {
    let read = 0;
    const counted = Array.from({ length: 8000 }, (_, at) => ({
      ...resourceOf(`r${at}`),
      get name() {
        read += 1;
        return `name ${(at * 37) % 8000}`;
      },
    }));
    const tasks = new TaskQueue();
    const readPerTask: number[] = [];
    const run = tasks.run.bind(tasks);
    tasks.run = (task) =>
      run(() => {
        read = 0;
        const result = task();
        readPerTask.push(read);
        return result;
      });
    const order = { by: 'name', descending: false } as const;
    const slices = Array.from({ length: 800 }, (_, at) => counted.slice(10 * at, 10 * at + 10));
    const sorted = await selectResources({ parts: slices, alertability: false }, {}, order, tasks);
    expect(Math.max(...readPerTask)).toBeLessThan(2100);
    expect(sorted.map(({ id }) => id)).toEqual(await idsOf([counted], {}, order));
  });

  it('selects and sorts by what states mean, the most urgent first and the unknown last', async () => {
    const states = ['ALERTSTATE_INACTIVE', 'ESCALATED', 'ALERTSTATE_PENDING', '', 'NOW_FIRING'];
    const several = [states.map((state, at) => resourceOf(`${at}`, { state }))];
    const by = (descending: boolean) => idsOf(several, {}, { by: 'alert_state', descending });
    expect(await by(false)).toEqual(['4', '2', '0', '1', '3']);
    expect(await by(true)).toEqual(['0', '2', '4', '1', '3']);
    expect(await idsOf(several, { alert_state: 'unknown' })).toEqual(['1', '3']);
    expect(await idsOf(several, { alert_state: 'firing' })).toEqual(['4']);
  });

  it('rejects with the reason of the signal', async () => {
    const reason = new Error('the client disconnected');
    const aborted = AbortSignal.abort(reason);
    const selected = selectResources(
      { parts, alertability: false },
      { type: 'gpu' },
      undefined,
      new TaskQueue(),
      aborted,
    );
    await expect(selected).rejects.toBe(reason);
  });
});

describe('shortFormTest', () => {
  it('matches every run of parts of a value, in any case', () => {
    const part = fc.stringMatching(/^[a-zA-Z0-9]{1,6}$/);
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('.', '_', '-', '/', ': '),
        fc.nat(),
        (parts, separator, at) => {
          const from = at % parts.length;
          expect(shortFormTest(parts.slice(from).join('.').toUpperCase())(parts.join(separator))).toBe(true);
          expect(shortFormTest(parts.slice(0, from + 1).join(separator))(parts.join(separator))).toBe(true);
        },
      ),
    );
  });

  it('gives the same result for more values than it remembers', () => {
    const isMatch = shortFormTest('a');
    const values = Array.from({ length: 1500 }, (_, index) => (index % 2 === 0 ? `a.${index}` : `b.${index}`));
    const expected = values.map((value) => value.startsWith('a'));
    expect(values.map(isMatch)).toEqual(expected);
    expect(values.map(isMatch)).toEqual(expected);
  });
});

describe('unmatchedFilters', () => {
  const parts = [
    [resourceOf('a', { type: 'x.vm', state: 'FIRING' }), resourceOf('b', { type: 'x.vm', state: '' })],
    [resourceOf('c', { type: 'x.disk', state: 'FIRING' })],
  ];
  const unmatched = (selection: Selection, all: readonly (readonly Resource[])[] = parts) =>
    unmatchedFilters(all, selection, new TaskQueue());

  it('reports the filters that match nothing, with the values present', async () => {
    expect(await unmatched({ type: 'gpu', state: 'firing', product: 'p' })).toEqual([
      {
        filter: 'type',
        given: 'gpu',
        present: new Map([
          ['x.vm', 2],
          ['x.disk', 1],
        ]),
      },
      { filter: 'product', given: 'p', present: new Map([['', 3]]) },
    ]);
    expect(await unmatched({ type: '' })).toEqual([expect.objectContaining({ filter: 'type', given: '' })]);
  });

  it('reports none when each filter matches something', async () => {
    expect(await unmatched({})).toEqual([]);
    expect(await unmatched({ type: 'disk', state: '', search: 'nothing' })).toEqual([]);
  });
});

describe('parseOrder', () => {
  it('parses a key, with a leading - for descending order', () => {
    expect(parseOrder('alert_rules')).toEqual({ by: 'alert_rules', descending: false });
    expect(parseOrder('-alert_rules')).toEqual({ by: 'alert_rules', descending: true });
    for (const text of ['', '-', '--name', 'rule', 'toString', '-constructor'])
      expect(parseOrder(text)).toBeUndefined();
  });
});
