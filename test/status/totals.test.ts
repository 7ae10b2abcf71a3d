import { describe, expect, it } from 'vitest';
import type { Resource } from '../../src/resources/fields.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { countOwners } from '../../src/status/owners.ts';
import { type Totals, totalsOf } from '../../src/status/totals.ts';
import { aggregatesOf, resourceOf, specOf } from '../stations/fixtures.ts';

const stationOf = (resources: readonly Resource[], alertability = true) => ({
  spec: specOf({ alertability, resourceLabels: new ResourceLabels([], ['team']) }),
  aggregates: aggregatesOf(resources, alertability),
});

const NONE_KNOWN = { withRules: 0, withoutRules: 0 };

const owned = (team: string, changes: Partial<Resource>) => resourceOf(team, { ...changes, labels: { team } });

const coverageOf = ({ withRules, withoutRules, unknownCoverage }: Totals) => ({
  withRules,
  withoutRules,
  unknownCoverage,
});

describe('totalsOf', () => {
  const coverage = (resources: readonly Resource[], alertability: boolean) =>
    coverageOf(totalsOf(stationOf(resources, alertability).aggregates.groups, alertability));
  const resources = [
    resourceOf('a', { alertRules: 0, alertable: true, product: 'p' }),
    resourceOf('b', { alertRules: 2, alertable: true }),
    resourceOf('c', { alertRules: undefined, alertable: false, product: 'q' }),
    resourceOf('d', { type: 'silent', alertRules: undefined, alertable: true }),
    resourceOf('e', { alertRules: 0, alertable: undefined }),
    resourceOf('f', { alertRules: 3, alertable: undefined }),
    resourceOf('g', { alertRules: undefined, alertable: undefined }),
    resourceOf('h', { alertRules: 1, alertable: false }),
  ];

  it('counts a resource of unknown rules or alertability neither as with nor as without rules', () => {
    expect(coverage(resources, true)).toEqual({ withRules: 1, withoutRules: 1, unknownCoverage: 4 });
  });

  it('has no alertable resources in an empty listing, and does not know of any without alertability', () => {
    expect([totalsOf([], true).alertable, totalsOf([], false).alertable]).toEqual([0, undefined]);
  });

  it('counts all but exempt resources where it is not known which are alertable', () => {
    expect(coverage(resources, false)).toEqual({ withRules: 2, withoutRules: 2, unknownCoverage: 2 });
  });
});

describe('countOwners', () => {
  it('adds up to the station where one owner has resources without a reported number of rules', async () => {
    const station = stationOf([
      owned('a', { alertRules: 1, alertable: true }),
      owned('b', { alertRules: undefined, alertable: true }),
      owned('c', { alertRules: 0, alertable: false }),
    ]);
    const owners = await countOwners([station], ['team']);
    expect(owners.map((owner) => [owner.value, coverageOf(owner)])).toEqual([
      ['a', { withRules: 1, withoutRules: 0, unknownCoverage: 0 }],
      ['b', { ...NONE_KNOWN, unknownCoverage: 1 }],
      ['c', { ...NONE_KNOWN, unknownCoverage: 0 }],
    ]);
    const total = totalsOf(station.aggregates.groups, true);
    expect(coverageOf(total)).toEqual({ withRules: 1, withoutRules: 0, unknownCoverage: 1 });
  });

  it('does not count the resources of a station that was listed without the label as resources without a value', async () => {
    const station = stationOf([owned('a', {})]);
    const former = { ...stationOf([resourceOf('b')]), spec: specOf() };
    expect(await countOwners([station, former], ['team'])).toMatchObject([{ value: 'a', resources: 1 }]);
  });

  it('adds the counts of stations', async () => {
    const station = stationOf([owned('a', { state: 'FIRING', alertRules: 0, alertable: true })]);
    const counting = countOwners(Array(2).fill(station), ['team']);
    expect(await counting).toMatchObject([
      { value: 'a', resources: 2, firing: 2, alertable: 2, alertRules: 0, withoutRules: 2, unknownCoverage: 0 },
    ]);
  });
});
