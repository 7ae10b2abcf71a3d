import { describe, expect, it } from 'vitest';
import { countOwners, totalsOf } from '../../src/inventory/station-status.ts';
import type { Resource } from '../../src/model/resource.ts';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { Aggregation } from '../../src/refresh/aggregates.ts';
import { LabelValues } from '../../src/refresh/label-values.ts';
import { resourceOf } from '../refresh/fixtures.ts';

const stationOf = (resources: readonly Resource[], alertability = true) => {
  const aggregates = new Aggregation();
  for (const resource of resources) aggregates.addResource(resource, alertability, new LabelValues(100));
  return { aggregates, alertability };
};

const owned = (team: string, changes: Partial<Resource>) => resourceOf(team, { ...changes, labels: { team } });

describe('totalsOf', () => {
  const coverage = (resources: readonly Resource[], alertability: boolean) =>
    totalsOf(stationOf(resources, alertability).aggregates.groups, alertability).coverage;
  const resources = [
    resourceOf('a', { alertRules: 0, alertable: true, product: 'p' }),
    resourceOf('b', { alertRules: 2, alertable: true }),
    resourceOf('c', { alertRules: undefined, alertable: false, product: 'q' }),
    resourceOf('d', { type: 'silent', alertRules: undefined, alertable: true }),
  ];

  it('has as coverage the share of alertable resources, of all resources where it is not known which these are', () => {
    expect(coverage(resources, true)).toEqual({ alertable: 2, withRules: 1 });
    expect(coverage(resources, false)).toEqual({ alertable: 3, withRules: 2 });
  });

  it('has no coverage without a type of which rules are reported, and without a resource that can have alerts', () => {
    expect(coverage(resources.slice(3), true)).toBeUndefined();
    expect(coverage([resourceOf('a', { alertRules: 0, alertable: false })], true)).toBeUndefined();
  });
});

describe('countOwners', () => {
  it('adds up to the station where one owner has resources without a reported number of rules', async () => {
    const station = stationOf([
      owned('a', { alertRules: 1, alertable: true }),
      owned('b', { alertRules: undefined, alertable: true }),
      owned('c', { alertRules: 0, alertable: false }),
    ]);
    const owners = await countOwners([station], ['team'], new TaskQueue());
    expect(owners.map(({ value, withoutRules, coverage }) => [value, withoutRules, coverage])).toEqual([
      ['a', 0, { alertable: 1, withRules: 1 }],
      ['b', undefined, { alertable: 1, withRules: 1 }],
      ['c', 0, undefined],
    ]);
    expect(totalsOf(station.aggregates.groups, true).coverage).toEqual({ alertable: 2, withRules: 2 });
  });

  it('adds the counts of stations', async () => {
    const station = stationOf([owned('a', { state: 'FIRING', alertRules: 0, alertable: true })]);
    const counting = countOwners(Array(2).fill(station), ['team'], new TaskQueue());
    expect(await counting).toEqual([
      {
        ...{ label: 'team', value: 'a', resources: 2, firing: 2, pending: 0, alertable: 2, withoutRules: 2 },
        coverage: { alertable: 2, withRules: 0 },
      },
    ]);
  });
});
