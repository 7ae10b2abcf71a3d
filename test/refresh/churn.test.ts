import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../src/model/resource.ts';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { type Churn, type ChurnState, churnAfter, NO_CHURN } from '../../src/refresh/churn.ts';
import { LabelValues } from '../../src/refresh/label-values.ts';
import type { Snapshot } from '../../src/refresh/snapshot.ts';
import { listingOf, resourceOf } from './fixtures.ts';

/** The states after each of the snapshots. */
async function churnOf(snapshots: readonly Snapshot[], values = new LabelValues(1000)): Promise<ChurnState[]> {
  const states = [NO_CHURN];
  for (const snapshot of snapshots)
    states.push(await churnAfter(states.at(-1) ?? NO_CHURN, snapshot, values, new TaskQueue()));
  return states.slice(1);
}

/** The counters by type, without the known states that are 0. */
function plain(churn: Churn | undefined) {
  return Object.fromEntries(
    Array.from(churn ?? [], ([type, { added, removed, stateChanges }]) => {
      const states = [...stateChanges].filter(([state, count]) => count > 0 || !state.startsWith('ALERTSTATE_'));
      return [type, { added, removed, stateChanges: Object.fromEntries(states) }];
    }),
  );
}

const totals = async (...snapshots: Snapshot[]) => plain((await churnOf(snapshots)).at(-1)?.totals);

const snapshotOf = (...resources: Resource[]) => listingOf(resources);
const first = snapshotOf(resourceOf('a'), resourceOf('b'), resourceOf('c', { type: 'type.b' }));

describe('churnAfter', () => {
  it('starts every type and state of the first snapshot at 0, and the known states with their type', async () => {
    const [state] = await churnOf([snapshotOf(resourceOf('a'), resourceOf('b', { type: 'type.b', state: '' }))]);
    const known = { ALERTSTATE_FIRING: 0, ALERTSTATE_PENDING: 0, ALERTSTATE_INACTIVE: 0, ALERTSTATE_UNSPECIFIED: 0 };
    const published = Array.from(state?.published ?? [], ([type, { added, removed, stateChanges }]) => [
      ...[type, added, removed],
      Object.fromEntries(stateChanges),
    ]);
    expect(published).toEqual([
      ['type.a', 0, 0, { ...known, INACTIVE: 0 }],
      ['type.b', 0, 0, known],
    ]);
    expect(state?.changes).toBeUndefined();
  });

  it('counts added and removed resources, and state changes by the new state', async () => {
    const next = snapshotOf(
      resourceOf('a', { state: 'FIRING' }),
      resourceOf('d'),
      resourceOf('e', { type: 'type.new' }),
    );
    const [, state] = await churnOf([first, next]);
    expect(plain(state?.totals)).toEqual({
      'type.a': { added: 1, removed: 1, stateChanges: { INACTIVE: 0, FIRING: 1 } },
      'type.b': { added: 0, removed: 1, stateChanges: { INACTIVE: 0 } },
      'type.new': { added: 1, removed: 0, stateChanges: { INACTIVE: 0 } },
    });
    expect(state?.changes).toEqual({ added: 2, removed: 2, stateChanges: 1 });
  });

  it('publishes a new type or state with 0 first, and its count with the next refresh, so that increase() sees it', async () => {
    const next = snapshotOf(resourceOf('a', { state: 'FIRING' }), resourceOf('e', { type: 'type.new' }));
    const incomplete = listingOf([resourceOf('a')], { complete: false });
    for (const later of [next, incomplete]) {
      const [, starting, settled, unchanged] = await churnOf([first, next, later, later]);
      expect(plain(starting?.published)).toEqual({
        'type.a': { added: 0, removed: 1, stateChanges: { INACTIVE: 0, FIRING: 0 } },
        'type.b': { added: 0, removed: 1, stateChanges: { INACTIVE: 0 } },
        'type.new': { added: 0, removed: 0, stateChanges: { INACTIVE: 0 } },
      });
      expect(plain(settled?.published)).toMatchObject({
        'type.a': { stateChanges: { FIRING: 1 } },
        'type.new': { added: 1 },
      });
      expect(unchanged?.published).toBe(settled?.published);
    }
  });

  it('publishes the first change to a known state at once, because its series exists', async () => {
    const firing = snapshotOf(resourceOf('a', { state: 'ALERTSTATE_FIRING' }));
    const [, state] = await churnOf([snapshotOf(resourceOf('a')), firing]);
    expect(state?.published.get('type.a')?.stateChanges.get('ALERTSTATE_FIRING')).toBe(1);
  });

  it('counts a changed type under the same id as one removed and one added', async () => {
    const changed = resourceOf('a', { type: 'type.b', state: 'FIRING' });
    expect(await totals(first, snapshotOf(changed, resourceOf('b'), resourceOf('c', { type: 'type.b' })))).toEqual({
      'type.a': { added: 0, removed: 1, stateChanges: { INACTIVE: 0 } },
      'type.b': { added: 1, removed: 0, stateChanges: { INACTIVE: 0, FIRING: 0 } },
    });
  });

  it('counts no change to or from an unknown state', async () => {
    const unknown = snapshotOf(resourceOf('a', { state: '' }));
    const known = snapshotOf(resourceOf('a', { state: 'FIRING' }));
    expect(await totals(unknown, known, unknown)).toEqual({
      'type.a': { added: 0, removed: 0, stateChanges: { FIRING: 0 } },
    });
  });

  it('compares only parts that the snapshots do not share', async () => {
    const shared = [resourceOf('s1'), resourceOf('s2', { state: 'PENDING' })];
    const before = listingOf([], { parts: [shared, [resourceOf('a')]] });
    const next = listingOf([], { parts: [[resourceOf('b')], shared] });
    const states = await churnOf([before, next, next]);
    expect(plain(states[1]?.totals)).toEqual({
      'type.a': { added: 1, removed: 1, stateChanges: { INACTIVE: 0, PENDING: 0 } },
    });
    expect(states[2]?.totals).toBe(states[1]?.totals);
    expect(states[2]?.changes).toEqual({ added: 0, removed: 0, stateChanges: 0 });
  });

  it('does not modify the state it is given', async () => {
    const [before = NO_CHURN] = await churnOf([first]);
    const copy = structuredClone(before);
    const next = snapshotOf(resourceOf('a', { state: 'FIRING' }));
    await churnAfter(before, next, new LabelValues(1000), new TaskQueue());
    expect(before).toEqual(copy);
  });

  it('keeps the first count plus added minus removed equal to the current count of each type, in any order and parts', async () => {
    const resources = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom(...'abcdef'),
        type: fc.constantFrom('t1', 't2', ''),
        state: fc.constantFrom('', 'I', 'F'),
      }),
      { selector: ({ id }) => id },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(resources, { minLength: 1 }), fc.nat(6), async (steps, cut) => {
        const rows = steps.map((step) => step.map(({ id, ...rest }) => resourceOf(id, rest)));
        const states = await churnOf(rows.map((step) => listingOf(step)));
        const parts = rows.map((step) => listingOf([], { parts: [step.slice(cut).toReversed(), step.slice(0, cut)] }));
        const reordered = await churnOf(parts);
        expect(plain(reordered.at(-1)?.totals)).toEqual(plain(states.at(-1)?.totals));
        for (const type of ['t1', 't2', '']) {
          const count = (index: number) => rows.at(index)?.filter((resource) => resource.type === type).length ?? 0;
          const { added = 0, removed = 0 } = states.at(-1)?.totals.get(type) ?? {};
          expect(count(0) + added - removed).toBe(count(-1));
        }
      }),
    );
  });

  it('has a bounded number of series, whatever types and states come and go, and loses no change', async () => {
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
    const states = await churnOf([...snapshots, listingOf([], { complete: false })], new LabelValues(20));
    const churn = [...(states.at(-1)?.published.values() ?? [])];
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    const changed = churn.flatMap(({ stateChanges }) => [...stateChanges.values()]);
    expect(churn).toHaveLength(21);
    expect(changed.length).toBeLessThanOrEqual(200 + 21 + 21 * 4);
    expect([sum(churn.map(({ added }) => added)), sum(churn.map(({ removed }) => removed)), sum(changed)]).toEqual([
      39 * 25,
      39 * 25,
      39 * 25,
    ]);
  });
});
