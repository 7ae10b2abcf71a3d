import { describe, expect, it } from 'vitest';
import { countOwners } from '../../src/inventory/owner-counts.ts';
import { coverageIn } from '../../src/inventory/station-status.ts';
import type { Resource } from '../../src/model/resource.ts';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { Aggregation } from '../../src/refresh/aggregates.ts';
import { LabelValues } from '../../src/refresh/label-values.ts';
import { resourceOf } from '../refresh/fixtures.ts';

const aggregatesOf = (resources: readonly Resource[]) => {
  const aggregates = new Aggregation();
  for (const resource of resources) aggregates.addResource(resource, true, new LabelValues(100));
  return aggregates;
};

const owned = (team: string, changes: Partial<Resource>) => resourceOf(team, { ...changes, labels: { team } });

describe('countOwners', () => {
  it('adds up to the station where one owner has resources without a reported number of rules', async () => {
    const aggregates = aggregatesOf([
      owned('a', { alertRules: 1, alertable: true }),
      owned('b', { alertRules: undefined, alertable: true }),
      owned('c', { alertRules: 0, alertable: false }),
    ]);
    const owners = await countOwners([{ aggregates, alertability: true }], ['team'], new TaskQueue());
    expect(owners.map(({ value, withoutRules, coverage }) => [value, withoutRules, coverage])).toEqual([
      ['a', 0, { alertable: 1, withRules: 1 }],
      ['b', undefined, { alertable: 1, withRules: 1 }],
      ['c', 0, undefined],
    ]);
    expect(coverageIn(aggregates.groups, true)).toEqual({ alertable: 2, withRules: 2 });
  });

  it('adds the counts of stations', async () => {
    const aggregates = aggregatesOf([owned('a', { state: 'FIRING', alertRules: 0, alertable: true })]);
    const counting = countOwners(Array(2).fill({ aggregates, alertability: true }), ['team'], new TaskQueue());
    expect(await counting).toEqual([
      {
        ...{ label: 'team', value: 'a', resources: 2, firing: 2, withoutRules: 2 },
        coverage: { alertable: 2, withRules: 0 },
      },
    ]);
  });
});
