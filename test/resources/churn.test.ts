import { describe, expect, it } from 'vitest';
import { type AlertState, StateMeanings } from '../../src/resources/alert-state.ts';
import { type Churn, churnAfter, churnWithMeanings, NO_CHURN } from '../../src/resources/churn.ts';
import { type Base, comparisonOf } from '../../src/resources/comparison.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { listingOf, resourceOf, resourcesOf } from '../stations/fixtures.ts';

type Churned = Awaited<ReturnType<typeof churnAfter>>;

const bounds = () => ({ values: new LabelValues(1000), maxChanges: 1000, states: new StateMeanings() });

const MAX_STALE_MINUTES = 10;

/** The states after each of the snapshots, one per minute. */
async function churnOf(snapshots: readonly Snapshot[], given = bounds()): Promise<Churned[]> {
  const states: Churned[] = [];
  let base: Base | undefined;
  for (const [minute, snapshot] of snapshots.entries()) {
    const comparison = comparisonOf(base, snapshot, minute, MAX_STALE_MINUTES);
    states.push(await churnAfter(states.at(-1) ?? NO_CHURN, snapshot, comparison, given));
    base = comparison.base;
  }
  return states;
}

/** The counters by type, without the known states that are 0. */
function plain(churn: Churn | undefined) {
  return Object.fromEntries(
    Array.from(churn ?? [], ([type, { added, removed, stateChanges }]) => {
      const states = seriesOf(stateChanges).filter(([state, count]) => count > 0 || !state.startsWith('ALERTSTATE_'));
      return [type, { added, removed, stateChanges: Object.fromEntries(states) }];
    }),
  );
}

type StateChanges = NonNullable<ReturnType<Churn['get']>>['stateChanges'];

/** Counts by state, whatever it means. */
function seriesOf(stateChanges: StateChanges): [state: string, count: number][] {
  return [...stateChanges.values()].flatMap((counts) => [...counts]);
}

const snapshotOf = (...resources: Resource[]) => listingOf(resources);
const first = snapshotOf(resourceOf('a'), resourceOf('b'), resourceOf('c', { type: 'type.b' }));

describe('churnAfter', () => {
  it('compares only parts that the snapshots do not share', async () => {
    const shared = [resourceOf('s1'), resourceOf('s2', { state: 'PENDING' })];
    const before = listingOf([], { parts: [shared, [resourceOf('a')]] });
    const next = listingOf([], { parts: [[resourceOf('b')], shared] });
    const states = await churnOf([before, next, next]);
    expect(plain(states[1]?.totals)).toEqual({
      'type.a': { added: 1, removed: 1, stateChanges: { INACTIVE: 0, PENDING: 0 } },
    });
    expect(states[2]?.totals).toBe(states[1]?.totals);
    expect(states[2]?.changes?.list).toEqual([]);
  });

  it('starts every type and state of the first snapshot at 0, and the known states with their type', async () => {
    const [state] = await churnOf([snapshotOf(resourceOf('a'), resourceOf('b', { type: 'type.b', state: '' }))]);
    const known = { ALERTSTATE_FIRING: 0, ALERTSTATE_PENDING: 0, ALERTSTATE_INACTIVE: 0, ALERTSTATE_UNSPECIFIED: 0 };
    const published = Array.from(state?.published ?? [], ([type, { added, removed, stateChanges }]) => [
      ...[type, added, removed],
      Object.fromEntries(seriesOf(stateChanges)),
    ]);
    expect(published).toEqual([
      ['type.a', 0, 0, { ...known, INACTIVE: 0 }],
      ['type.b', 0, 0, known],
    ]);
    expect(state?.changes).toBeUndefined();
  });

  it('counts and lists what changed: a changed type is listed once, and counted as one removed and one added', async () => {
    const before = snapshotOf(
      ...['a', 'b', 'c', 'd', 'renamed'].map((id) => resourceOf(id)),
      ...['unknown', 'known'].map((id) => resourceOf(id, { state: id === 'known' ? 'F' : '', alertRules: undefined })),
    );
    const added = resourceOf('new', { state: 'F' });
    const firing = resourceOf('a', { state: 'F', alertRules: 3 });
    const moved = resourceOf('b', { type: 'type.b', state: 'F', alertRules: 7 });
    const renamed = resourceOf('renamed', { name: 'other', displayName: 'Other', sku: '2 GPU' });
    const unknown = [resourceOf('unknown', { state: 'G' }), resourceOf('known', { state: '', alertRules: undefined })];
    const [, state] = await churnOf([before, snapshotOf(firing, moved, renamed, ...unknown, added, resourceOf('d'))]);
    expect(plain(state?.totals)).toEqual({
      'type.a': { added: 1, removed: 2, stateChanges: { INACTIVE: 0, F: 1, G: 0 } },
      'type.b': { added: 1, removed: 0, stateChanges: { F: 0 } },
    });
    expect(state?.changes).toEqual({
      added: 2,
      removed: 2,
      stateChanges: 1,
      rulesChanges: 1,
      total: 5,
      removedOwners: [{ labels: undefined, total: 1 }],
      list: [
        { change: 'state', resource: firing, from: 'INACTIVE', to: 'F' },
        { change: 'rules', resource: firing, from: 1, to: 3 },
        { change: 'type', resource: moved, from: 'type.a', to: 'type.b' },
        { change: 'added', resource: added, from: undefined, to: 'F' },
        { change: 'removed', resource: resourceOf('c'), from: 'INACTIVE', to: undefined },
      ],
    });
  });

  it('lists at most as many changes as it may, of a station that changes completely, and counts all', async () => {
    const listings = [resourcesOf(5000), resourcesOf(10_000).slice(5000)].map((rows) => listingOf(rows));
    const [, state] = await churnOf(listings, { ...bounds(), maxChanges: 3 });
    expect(state?.changes).toMatchObject({ added: 5000, removed: 5000, total: 10_000 });
    expect(state?.changes?.list.map(({ change }) => change)).toEqual([
      ...Array(3).fill('added'),
      ...Array(3).fill('removed'),
    ]);
  });

  it('counts the removed resources of each owner, whatever it lists of them', async () => {
    const [web, data] = [{ team: 'web' }, { team: 'data' }];
    const before = listingOf(resourcesOf(1250, (index) => ({ labels: index < 1000 ? web : data })));
    const [, state] = await churnOf([before, listingOf([])], { ...bounds(), maxChanges: 1000 });
    expect(state?.changes?.removedOwners).toEqual([
      { labels: web, total: 1000 },
      { labels: data, total: 250 },
    ]);
    expect(state?.changes?.list).toHaveLength(1000);
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
    expect(state?.published.get('type.a')?.stateChanges.get('firing')?.get('ALERTSTATE_FIRING')).toBe(1);
  });

  it('counts changes to states beyond the limit under (other), by what they mean', async () => {
    const inStates = (...states: string[]) =>
      snapshotOf(...states.map((state, index) => resourceOf(`r${index}`, { state })));
    const given = { ...bounds(), values: new LabelValues(1) };
    const listings = [inStates('OK', 'OK', 'OK'), inStates('A_FIRING', 'B_FIRING', 'WAIT'), inStates('OK', 'OK', 'OK')];
    const states = await churnOf(listings, given);
    const { stateChanges } = states.at(-1)?.published.get('type.a') ?? {};
    const countsOf = (meaning: AlertState) => Object.fromEntries(stateChanges?.get(meaning) ?? []);
    expect(countsOf('firing')).toEqual({ ALERTSTATE_FIRING: 0, '(other)': 2 });
    expect(countsOf('unknown')).toEqual({ ALERTSTATE_UNSPECIFIED: 0, OK: 3, '(other)': 1 });
    const withMeaning = churnWithMeanings(
      states.at(-1)?.published ?? NO_CHURN.published,
      new StateMeanings({ inactive: ['OK'] }),
    );
    const meanings = withMeaning.get('type.a')?.stateChanges;
    expect(meanings?.get('inactive')?.get('OK')).toBe(3);
    expect(meanings?.get('unknown')).toEqual(
      new Map([
        ['ALERTSTATE_UNSPECIFIED', 0],
        ['(other)', 1],
      ]),
    );
    expect(meanings?.get('firing')).toEqual(stateChanges?.get('firing'));
  });
});
