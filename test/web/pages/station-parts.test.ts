import { describe, expect, it } from 'vitest';
import { coverageOf, type StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE, FAILURE_REASONS } from '../../../src/model/failure.ts';
import {
  completeText,
  coverageText,
  failureNote,
  snapshotAge,
  stateBadge,
} from '../../../src/web/pages/station-parts.ts';
import { NOW_MS, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

const snapshot = { resources: 9, complete: true, pages: 1, alertable: 8, withoutRules: 2 };

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
});

describe('failureNote', () => {
  it('is empty without a failure', () => {
    expect(failureNote(STATION, NOW_MS)).toEqual([]);
  });

  it.each(FAILURE_REASONS)('shows the meaning, the message and the advice for %s', (reason) => {
    const failure = { reason, message: 'line 1\n<line 2>' };
    const { meaning, advice } = FAILURE_ADVICE[reason];
    const [note] = failureNote({ failure, lastSuccessMs: STATION.lastSuccessMs }, NOW_MS);
    expect(parseHtml(note?.text ?? '').text).toBe(
      `\n${meaning} Last successful refresh: 55 s ago.\n${reason}: line 1\n<line 2>\nWhat to do: ${advice}\n`,
    );
  });

  it('shows that no refresh has succeeded yet', () => {
    const failure = { reason: 'auth', message: 'm' } as const;
    expect(failureNote({ failure, lastSuccessMs: undefined }, NOW_MS)[0]?.text).toContain(
      'No refresh has succeeded yet.',
    );
  });
});

describe('coverageOf', () => {
  it.each<[StationStatus['snapshot'], ReturnType<typeof coverageOf>, string]>([
    [snapshot, { alertable: 8, withRules: 6 }, '75 %'],
    [undefined, 'no snapshot is served', '– no snapshot is served'],
    [{ ...snapshot, alertable: undefined }, 'alertability is not enabled', '– alertability is not enabled'],
    [{ ...snapshot, alertable: 0 }, 'no resource can have alerts', '– no resource can have alerts'],
    [{ ...snapshot, withoutRules: undefined }, 'alert rules are not reported', '– alert rules are not reported'],
  ])('of the snapshot %j is %j', (given, coverage, text) => {
    expect(coverageOf({ snapshot: given })).toEqual(coverage);
    expect(parseHtml(coverageText(coverage).text).text).toBe(text);
  });
});

describe('snapshotAge', () => {
  it.each<[Partial<StationStatus>, string]>([
    [{}, '55 s ago'],
    [{ snapshot: undefined }, '– no snapshot is served'],
    [{ lastSuccessMs: undefined }, '– no snapshot is served'],
  ])('with %j is %j', (changes, text) => {
    expect(parseHtml(snapshotAge({ ...STATION, ...changes }, NOW_MS).text).text).toBe(text);
  });
});

describe('completeText', () => {
  it.each<[StationStatus['snapshot'], string]>([
    [snapshot, 'yes'],
    [{ ...snapshot, complete: false }, 'no'],
    [undefined, '– no snapshot is served'],
  ])('of the snapshot %j is %j', (given, text) => {
    expect(parseHtml(completeText({ snapshot: given }).text).text).toBe(text);
  });
});
