import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { type Churn, churnAfter as churnAfterOf, NO_CHURN } from '../../src/refresh/churn.ts';
import { LabelValues } from '../../src/refresh/label-values.ts';
import type { Snapshot } from '../../src/refresh/snapshot.ts';
import { listingOf, resourceOf } from './fixtures.ts';

const churnAfter = (churn: Churn, before: Snapshot | undefined, next: Snapshot, values = new LabelValues(1000)) =>
  churnAfterOf(churn, before, next, values, new TaskQueue());

const plain = (churn: Churn) => ({
  added: Object.fromEntries(churn.added),
  removed: Object.fromEntries(churn.removed),
  stateChanges: Object.fromEntries(
    Array.from(churn.stateChanges, ([type, states]) => [type, Object.fromEntries(states)]),
  ),
});

const first = listingOf([resourceOf('a'), resourceOf('b'), resourceOf('c', { type: 'type.b' })]);

describe('churnAfter', () => {
  it('starts every type and state of the first snapshot at 0', async () => {
    expect(plain(await churnAfter(NO_CHURN, undefined, first))).toEqual({
      added: { 'type.a': 0, 'type.b': 0 },
      removed: { 'type.a': 0, 'type.b': 0 },
      stateChanges: { 'type.a': { INACTIVE: 0 }, 'type.b': { INACTIVE: 0 } },
    });
  });

  it('counts added and removed resources, and state changes by the new state', async () => {
    const next = listingOf([
      resourceOf('a', { state: 'FIRING' }),
      resourceOf('d'),
      resourceOf('e', { type: 'type.new' }),
    ]);
    const churn = await churnAfter(await churnAfter(NO_CHURN, undefined, first), first, next);
    expect(plain(churn)).toEqual({
      added: { 'type.a': 1, 'type.b': 0, 'type.new': 1 },
      removed: { 'type.a': 1, 'type.b': 1, 'type.new': 0 },
      stateChanges: { 'type.a': { INACTIVE: 0, FIRING: 1 }, 'type.b': { INACTIVE: 0 }, 'type.new': { INACTIVE: 0 } },
    });
  });

  it('counts a changed type under the same id as one removed and one added', async () => {
    const next = listingOf([
      resourceOf('a', { type: 'type.b', state: 'FIRING' }),
      resourceOf('b'),
      resourceOf('c', { type: 'type.b' }),
    ]);
    expect(plain(await churnAfter(NO_CHURN, first, next))).toMatchObject({
      added: { 'type.a': 0, 'type.b': 1 },
      removed: { 'type.a': 1, 'type.b': 0 },
      stateChanges: { 'type.b': { FIRING: 0 } },
    });
  });

  it('counts no change to or from an unknown state', async () => {
    const unknown = listingOf([resourceOf('a', { state: '' })]);
    const known = listingOf([resourceOf('a', { state: 'FIRING' })]);
    expect(plain(await churnAfter(NO_CHURN, unknown, known)).stateChanges).toEqual({ 'type.a': { FIRING: 0 } });
    expect(plain(await churnAfter(NO_CHURN, known, unknown)).stateChanges).toEqual({ 'type.a': {} });
  });

  it('skips parts that both snapshots share', async () => {
    const shared = [resourceOf('s1'), resourceOf('s2', { state: 'PENDING' })];
    const before = listingOf([], { parts: [shared, [resourceOf('a')]] });
    const next = listingOf([], { parts: [[resourceOf('b')], shared] });
    expect(plain(await churnAfter(await churnAfter(NO_CHURN, undefined, before), before, next))).toEqual({
      added: { 'type.a': 1 },
      removed: { 'type.a': 1 },
      stateChanges: { 'type.a': { INACTIVE: 0, PENDING: 0 } },
    });
    expect(await churnAfter(NO_CHURN, next, next)).toBe(NO_CHURN);
  });

  it('does not modify the counters it is given', async () => {
    const before = await churnAfter(NO_CHURN, undefined, first);
    const copy = structuredClone(before);
    await churnAfter(before, first, listingOf([resourceOf('a', { state: 'FIRING' })]));
    expect(before).toEqual(copy);
  });

  it('keeps the first count plus added minus removed equal to the current count of each type', async () => {
    const resources = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom(...'abcdef'),
        type: fc.constantFrom('t1', 't2'),
        state: fc.constantFrom('', 'I', 'F'),
      }),
      {
        selector: ({ id }) => id,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(resources, { minLength: 1 }), async (steps) => {
        const snapshots = steps.map((step) => listingOf(step.map(({ id, ...rest }) => resourceOf(id, rest))));
        let churn = NO_CHURN;
        for (const [index, snapshot] of snapshots.entries())
          churn = await churnAfter(churn, snapshots[index - 1], snapshot);
        const count = (index: number, type: string) =>
          (snapshots.at(index)?.parts.flat() ?? []).filter((r) => r.type === type).length;
        for (const type of ['t1', 't2']) {
          const balance = (churn.added.get(type) ?? 0) - (churn.removed.get(type) ?? 0);
          expect(count(0, type) + balance).toBe(count(-1, type));
        }
      }),
    );
  });

  it('counts the same whether the resources of a part keep their order or not', async () => {
    const resources = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom(...'abcdef'),
        type: fc.constantFrom('t1', 't2', ''),
        state: fc.constantFrom('', 'I', 'F'),
      }),
      { selector: ({ id }) => id },
    );
    await fc.assert(
      fc.asyncProperty(resources, resources, fc.boolean(), async (old, list, keepsIds) => {
        const before = listingOf(old.map(({ id, ...rest }) => resourceOf(id, rest)));
        const changed = keepsIds
          ? old.map(({ id }, at) => ({ ...(list[at] ?? { type: 't1', state: 'I' }), id }))
          : list;
        const next = changed.map(({ id, ...rest }) => resourceOf(id, rest));
        const start = await churnAfter(NO_CHURN, undefined, before);
        const inOrder = await churnAfter(start, before, listingOf(next));
        const elsewhere = await churnAfter(start, before, listingOf([], { parts: [[resourceOf('z')], next] }));
        const reversed = await churnAfter(start, before, listingOf(next.toReversed()));
        expect(plain(inOrder)).toEqual(plain(reversed));
        const without = plain(elsewhere);
        without.added['type.a'] = (without.added['type.a'] ?? 0) - 1;
        const withZ = plain(await churnAfter(inOrder, listingOf(next), listingOf([...next, resourceOf('z')])));
        withZ.added['type.a'] = (withZ.added['type.a'] ?? 0) - 1;
        expect(without).toEqual(withZ);
      }),
    );
  });

  it('has a bounded number of series, whatever types and states come and go, and loses no change', async () => {
    const values = new LabelValues(20);
    const snapshots = Array.from({ length: 40 }, (_, refresh) =>
      listingOf(
        Array.from({ length: 50 }, (_, index) =>
          resourceOf(`r${index}`, {
            type: `type ${index % 2 ? index : `${refresh} ${index}`}`,
            state: `state ${refresh} ${index}`,
          }),
        ),
      ),
    );
    let churn = NO_CHURN;
    for (const [index, snapshot] of snapshots.entries())
      churn = await churnAfter(churn, snapshots[index - 1], snapshot, values);
    const sum = (counts: ReadonlyMap<string, number>) =>
      [...counts.values()].reduce((total, count) => total + count, 0);
    const states = [...churn.stateChanges.values()];
    expect([churn.added.size, churn.removed.size]).toEqual([21, 21]);
    expect(states.reduce((total, counts) => total + counts.size, 0)).toBeLessThanOrEqual(200 + 21);
    expect([sum(churn.added), sum(churn.removed), states.reduce((total, counts) => total + sum(counts), 0)]).toEqual([
      39 * 25,
      39 * 25,
      39 * 25,
    ]);
  });
});
