import { describe, expect, it } from 'vitest';
import { gateProblems } from '../../src/diagnosis/gate.ts';
import type { StationStatus } from '../../src/inventory/station-status.ts';
import { SNAPSHOT, STATION } from '../web/fake-station.ts';

const station = (name: string, counts: Partial<StationStatus['snapshot']>): StationStatus => {
  const { alertable = 0, withoutRules = 0 } = { alertable: 10, ...counts };
  const coverage = alertable === 0 ? undefined : { alertable, withRules: alertable - withoutRules };
  return {
    ...STATION,
    name,
    snapshot: { ...SNAPSHOT, resources: 10, alertable: 10, withoutRules: 0, coverage, ...counts },
  };
};

describe('gateProblems', () => {
  it.each<readonly [what: string, ...Parameters<typeof gateProblems>, readonly string[]]>([
    ['no limit', [station('a', { withoutRules: 10 })], {}, []],
    ['a share at the limit', [station('a', { alertable: 30, withoutRules: 27 })], { minCoverage: 0.1 }, []],
    [
      'the share of all stations together, rounded down',
      [station('a', { alertable: 9999, withoutRules: 1000 }), station('b', { alertable: 1 })],
      { minCoverage: 0.95 },
      ['coverage is 0.9, expected at least 0.95: 9,000 of 10,000 resources that can have alerts have alert rules'],
    ],
    [
      'a share just below the limit',
      [station('a', { alertable: 100_000, withoutRules: 5001 })],
      { minCoverage: 0.95 },
      ['coverage is 0.9499, expected at least 0.95: 94,999 of 100,000 resources that can have alerts have alert rules'],
    ],
    [
      'the number of all stations together, also where alertability is not enabled',
      [station('a', { alertable: undefined, withoutRules: 2 }), station('b', { withoutRules: 1 })],
      { maxWithoutRules: 2 },
      ['3 resources have no alert rules, expected at most 2'],
    ],
    ['a number at the limit', [station('a', { withoutRules: 2 })], { maxWithoutRules: 2 }, []],
    [
      'all resources where alertability is not enabled, as the recording rule does',
      [station('a', { alertable: undefined, withoutRules: 4, coverage: { alertable: 10, withRules: 6 } })],
      { minCoverage: 0.7 },
      ['coverage is 0.6, expected at least 0.7: 6 of 10 resources that can have alerts have alert rules'],
    ],
    [
      'stations whose service reports no alert rules',
      [station('a', { withoutRules: undefined })],
      { maxWithoutRules: 5 },
      ['coverage of a is unknown: alert rules are not reported'],
    ],
    [
      'stations without resources that can have alerts',
      [
        station('a', { alertable: 0, withoutRules: undefined }),
        station('b', { resources: 0, alertable: undefined, withoutRules: undefined }),
      ],
      { minCoverage: 1, maxWithoutRules: 0 },
      [],
    ],
    ...[{ minCoverage: 0 }, { maxWithoutRules: 99 }].map(
      (limits): [string, ...Parameters<typeof gateProblems>, string[]] => [
        'incomplete and failed listings',
        [station('a', { complete: false }), { ...STATION, name: 'b', snapshot: undefined }],
        limits,
        ['coverage of a is unknown: its listing is incomplete', 'coverage of b is unknown: its listing failed'],
      ],
    ),
  ])('checks %s', (_, stations, limits, problems) => {
    expect(gateProblems(stations, limits)).toEqual(problems);
  });
});
