import { describe, expect, it } from 'vitest';
import { coverageOf, type StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE, FAILURE_REASONS } from '../../../src/model/failure.ts';
import { coverageText, stateBadge, stationNotes } from '../../../src/web/pages/station-parts.ts';
import { NOW_MS, SNAPSHOT, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

describe('stateBadge', () => {
  it.each([
    [true, 'up', 'up'],
    [false, 'failing', 'failing'],
    [undefined, 'not-tried', 'not tried'],
  ] as const)('with up %s has the class %s', (up, state, words) => {
    expect(stateBadge({ ...STATION, up }).text).toBe(`<span class="state ${state}">${words}</span>`);
  });

  it.each<[Partial<StationStatus>, string]>([
    [{ refresh: 'scrape', dueInMs: -300_000 }, 'no data: not scraped for 5 min'],
    [{ refresh: 'scrape', dueInMs: -300_000, isRefreshing: true }, 'no data: refreshing now'],
    [{ refresh: 'background', dueInMs: -7_200_000 }, 'no data: overdue by 2 h'],
    [{ refresh: 'background', dueInMs: 100 }, 'no data: overdue by 0 s'],
  ])('without data and with %j is %j', (changes, text) => {
    expect(parseHtml(stateBadge({ ...STATION, snapshot: undefined, ...changes }).text).text).toBe(text);
  });

  it.each([
    [{ complete: false }, 'up: incomplete'],
    [{ rejected: 1200 }, 'up: 1,200 rejected'],
  ])('is not in the colour of success with %j', (changes, text) => {
    const badge = stateBadge({ ...STATION, snapshot: { ...SNAPSHOT, ...changes } }).text;
    expect(parseHtml(badge).text).toBe(text);
    expect(badge).toMatch(/^<span class="state incomplete">/);
  });
});

describe('stationNotes', () => {
  const textOf = (station: Parameters<typeof stationNotes>[0]) =>
    parseHtml(
      stationNotes(station, NOW_MS)
        .map(({ text }) => text)
        .join(''),
    ).text;

  it('is empty when all is well', () => {
    expect(stationNotes(STATION, NOW_MS)).toEqual([]);
  });

  it.each(FAILURE_REASONS)('shows the meaning, the message and the advice for %s', (reason) => {
    const failure = { reason, message: 'line 1\n<line 2>' };
    const { meaning, advice } = FAILURE_ADVICE[reason];
    expect(textOf({ ...STATION, failure })).toBe(
      `\n${meaning} Last success: 55 s ago.\n${reason}: line 1\n<line 2>\nWhat to do: ${advice}\n`,
    );
  });

  it('shows that no refresh has succeeded yet', () => {
    const failure = { reason: 'auth', message: 'm' } as const;
    expect(textOf({ failure, lastSuccessMs: undefined, snapshot: undefined })).toContain(
      'No refresh has succeeded yet.',
    );
  });

  it('shows why data may miss resources, also while refreshes fail', () => {
    const snapshot = { ...SNAPSHOT, complete: false, incompleteReasons: ['total 500, <494> listed'], rejected: 3 };
    const note =
      'The data may miss resources. listing incomplete: total 500, <494> listed. 3 records rejected: no usable resource_id.\n';
    expect(textOf({ ...STATION, snapshot })).toBe(note);
    const failure = { reason: 'auth', message: 'm' } as const;
    expect(textOf({ ...STATION, failure, snapshot: { ...SNAPSHOT, rejected: 1 } })).toContain('1 record rejected');
  });
});

describe('coverageOf', () => {
  it.each<[StationStatus['snapshot'], string]>([
    [{ ...SNAPSHOT, withoutRules: 2, coverage: { alertable: 8, withRules: 6 } }, '75 %'],
    [undefined, '– no data'],
    [{ ...SNAPSHOT, withoutRules: 0 }, '– no resource can have alerts'],
    [SNAPSHOT, '– alert rules are not reported'],
  ])('of the snapshot %j is %j', (snapshot, text) => {
    expect(parseHtml(coverageText(coverageOf({ snapshot })).text).text).toBe(text);
  });
});
