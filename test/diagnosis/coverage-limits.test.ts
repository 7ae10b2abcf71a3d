import { describe, expect, it } from 'vitest';
import { coverageVerdict } from '../../src/diagnosis/coverage-limits.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { aggregatesOf, listingOf, specOf } from '../stations/fixtures.ts';

type Checked = Parameters<typeof coverageVerdict>[0][number];

interface Counts {
  readonly resources?: number;
  readonly withRules?: number;
  readonly withoutRules?: number;
  readonly unknownCoverage?: number;
  readonly complete?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}

const TEAMS = new ResourceLabels(['a', 'b'].map((team) => ({ match: {}, labels: { team } })));

const station = (name: string, counts: Counts): Checked => {
  const { resources = 10, unknownCoverage = 0, complete = true } = counts;
  const { withRules, withoutRules } = { withRules: 10, withoutRules: 0, ...counts };
  const states = new Map([['inactive', new Map([['INACTIVE', resources]])] as const]);
  const group = { type: 't', product: '', labels: counts.labels ?? {}, states, quantities: new Map() };
  const rules = { alertRules: 0, alertable: 10, withRules, withoutRules, unknownCoverage };
  const ages = { unknownAge: 0, overdue: undefined, oldestUncovered: undefined };
  const snapshot = listingOf([]);
  return {
    spec: specOf({ name, ...(counts.labels && { resourceLabels: TEAMS }) }),
    listed: {
      snapshot: { ...snapshot, complete },
      aggregates: { ...aggregatesOf([]), holdsFor: () => true, groups: [{ ...group, ...rules, ...ages }] },
      withheld: 0,
    },
  };
};

const failed = (name: string): Checked => ({
  spec: specOf({ name }),
  listed: undefined,
});

const NO_ALERTABLE = { withRules: 0, withoutRules: 0 };

describe('coverageVerdict', () => {
  it.each<readonly [what: string, ...Parameters<typeof coverageVerdict>, readonly string[]]>([
    ['a share at the limit', [station('a', { withRules: 3, withoutRules: 27 })], { minCoverage: 0.1 }, []],
    [
      'the share of all stations together, rounded down',
      [station('a', { withRules: 8999, withoutRules: 1000 }), station('b', { withRules: 1 })],
      { minCoverage: 0.95 },
      ['coverage is 0.9, expected at least 0.95: 9,000 of 10,000 resources have alert rules'],
    ],
    [
      'a share as it is, if four digits are enough',
      [station('a', { withRules: 57, withoutRules: 43 })],
      { minCoverage: 0.95 },
      ['coverage is 0.57, expected at least 0.95: 57 of 100 resources have alert rules'],
    ],
    [
      'a share just below the limit',
      [station('a', { withRules: 94_999, withoutRules: 5001 })],
      { minCoverage: 0.95 },
      ['coverage is 0.9499, expected at least 0.95: 94,999 of 100,000 resources have alert rules'],
    ],
    [
      'the least share that is possible, and says of how many it is unknown',
      [station('a', { withRules: 0, withoutRules: 1, unknownCoverage: 9 })],
      { minCoverage: 0.95 },
      [
        'coverage of a is unknown: alert rules of 9 resources, or whether they can have alerts, are not reported',
        'coverage is 0 to 0.9, expected at least 0.95: 0 of 10 resources have alert rules, unknown for 9',
      ],
    ],
    [
      'stations without resources that can have alerts',
      [station('a', NO_ALERTABLE), station('b', { resources: 0, ...NO_ALERTABLE })],
      { minCoverage: 1, maxWithoutRules: 0 },
      [],
    ],
    ...[{ minCoverage: 0 }, { maxWithoutRules: 99 }].map(
      (limits): [string, ...Parameters<typeof coverageVerdict>, string[]] => [
        'incomplete and failed listings',
        [station('a', { complete: false }), failed('b')],
        limits,
        ['coverage of a is unknown: its listing is incomplete', 'coverage of b is unknown: its listing failed'],
      ],
    ),
  ])('checks %s', (_, stations, limits, problems) => {
    expect(coverageVerdict(stations, limits).problems).toEqual(problems);
  });

  it('counts only resources with the given labels, and ignores stations that cannot have any', () => {
    const stations = [
      station('a', { withRules: 9, withoutRules: 1, labels: { team: 'a' } }),
      station('b', { withRules: 0, withoutRules: 50, unknownCoverage: 1, labels: { team: 'b' } }),
      failed('unlabelled'),
    ];
    const verdict = (value: string, limits: object) =>
      coverageVerdict(stations, { ...limits, labels: [{ label: 'team', value }] });
    expect(verdict('a', { minCoverage: 0.9 })).toEqual({
      problems: [],
      coverage: 'coverage of resources with team=a is 0.9: 9 of 10 resources have alert rules',
    });
    expect(verdict('a', { maxWithoutRules: 0 }).problems).toEqual([
      '1 resource with team=a has no alert rules, expected at most 0',
    ]);
    expect(verdict('b', { minCoverage: 0 }).problems).toEqual([
      'coverage of b is unknown: alert rules of 1 resource, or whether they can have alerts, are not reported',
    ]);
    // A mistyped owner does not pass.
    expect(verdict('c', { minCoverage: 0 }).problems).toEqual(['no resource has team=c']);
  });

  it('reports the coverage, unless there is no limit', () => {
    expect(coverageVerdict([station('a', { withoutRules: 1 })], {})).toEqual({ problems: [] });
    expect(coverageVerdict([station('a', {})], { maxWithoutRules: 0 }).coverage).toBe(
      'coverage is 1: 10 of 10 resources have alert rules',
    );
    expect(coverageVerdict([], { maxWithoutRules: 0 }).coverage).toBe('no resources');
  });
});
