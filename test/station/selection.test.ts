import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../src/station/resource.ts';
import { type Order, type Selection, SORT_KEYS, type SortKey, selectResources } from '../../src/station/selection.ts';
import { TaskQueue } from '../../src/station/task-queue.ts';
import { resourceOf } from './fixtures.ts';

const idsOf = async (parts: readonly (readonly Resource[])[], selection: Selection, order?: Order) =>
  (await selectResources(parts, selection, order, new TaskQueue())).map(({ id }) => id);

describe('selectResources', () => {
  const parts = [
    [
      resourceOf('b', { name: 'vm-1', displayName: '训练 One', type: 'type.a', state: 'FIRING', alertRules: 0, alertable: true }),
      resourceOf('a', { name: 'vm-2', displayName: 'two', type: '', state: '', alertRules: undefined, product: 'p', createdSeconds: 5 }),
    ],
    [],
    [resourceOf('C', { name: 'DISK', displayName: '', type: 'type.b', alertRules: 12, alertable: false, createdSeconds: undefined })],
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
    [{ withoutRules: true }, ['b']],
    [{ withoutRules: false }, ['b', 'a', 'C']],
    [{ search: 'vm', product: 'p' }, ['a']],
  ])('selects by %j', async (selection, ids) => {
    expect(await idsOf(parts, selection)).toEqual(ids);
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

  it('returns no resources for no parts', async () => {
    expect(await idsOf([], {}, { by: 'id', descending: false })).toEqual([]);
  });

  it('sorts any division into parts like one list', async () => {
    const resource = fc.record({ type: fc.constantFrom('', 'x', 'y', 'z'), alertRules: fc.option(fc.nat(3), { nil: undefined }) });
    const order = fc.record({ by: fc.constantFrom(...(Object.keys(SORT_KEYS) as SortKey[])), descending: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(resource, { maxLength: 6 }), { maxLength: 7 }), order, async (drawn, by) => {
        let id = 0;
        const drawnParts = drawn.map((part) => part.map((changes) => resourceOf(String(id++), changes)));
        expect(await idsOf(drawnParts, {}, by)).toEqual(await idsOf([drawnParts.flat()], {}, by));
      }),
      { numRuns: 60 },
    );
  });

  it('runs no further task once the signal aborts, and rejects with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the client disconnected');
    const filtered: string[] = [];
    const observed = (id: string) =>
      Object.defineProperty(resourceOf(id), 'state', {
        get: () => {
          filtered.push(id);
          if (id === 'b') controller.abort(reason);
          return 'x';
        },
      });
    const selected = selectResources(
      [[observed('a')], [observed('b')], [observed('c')]],
      { state: 'x' },
      undefined,
      new TaskQueue(),
      controller.signal,
    );
    await expect(selected).rejects.toBe(reason);
    expect(filtered).toEqual(['a', 'b']);
  });
});
