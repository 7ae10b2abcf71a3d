import { describe, expect, it } from 'vitest';
import {
  completeText,
  coverageOf,
  coverageText,
  failureNote,
  nextRefreshText,
  snapshotAge,
  stateBadge,
  stateOf,
} from '../../src/inventory/station-state.ts';
import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/model/failure.ts';
import type { StationStatus } from '../../src/web/port.ts';
import { NOW_MS, STATION } from '../web/fake-station.ts';
import { parseHtml } from '../web/html-parser.ts';

const snapshot = { resources: 9, complete: true, pages: 1, alertable: 8, withoutRules: 2 };

describe('stateOf', () => {
  it.each([
    [true, 'up', 'up'],
    [false, 'failing', 'failing'],
    [undefined, 'not-tried', 'not tried'],
  ] as const)('maps up %s to %s', (up, state, words) => {
    expect(stateOf({ ...STATION, up })).toBe(state);
    expect(stateBadge({ ...STATION, up }).text).toBe(`<span class="state ${state}">${words}</span>`);
  });

  it('is never up without data', () => {
    expect(stateOf({ up: true, snapshot: undefined })).toBe('no-data');
    expect(stateOf({ up: false, snapshot: undefined })).toBe('failing');
  });
});

describe('stateBadge', () => {
  it.each<[Partial<StationStatus>, string]>([
    [{ refresh: 'scrape', dueInMs: -300_000 }, 'no data: not scraped for 5 min'],
    [{ refresh: 'scrape', dueInMs: -300_000, isRefreshing: true }, 'no data: refreshing now'],
    [{ refresh: 'background', dueInMs: -7_200_000 }, 'no data: refresh overdue by 2 h'],
    [{ refresh: 'background', dueInMs: 100 }, 'no data: refresh overdue by 0 s'],
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

describe('nextRefreshText', () => {
  it.each([
    ['scrape', 12_000, 'on a scrape after 12 s'],
    ['scrape', 0, 'on the next scrape'],
    ['scrape', -5000, 'on the next scrape'],
    ['background', 90_000, 'in 1 min 30 s'],
    ['background', 200, 'in 1 s'],
    ['background', -1, 'due now'],
  ] as const)('for %s due in %d ms is %j', (refresh, dueInMs, text) => {
    expect(nextRefreshText({ refresh, dueInMs, isRefreshing: false, waitingMs: undefined })).toBe(text);
    expect(nextRefreshText({ refresh, dueInMs, isRefreshing: true, waitingMs: undefined })).toBe('refreshing now');
  });

  it('shows a wait for capacity from a second on', () => {
    const refresh = { refresh: 'scrape', dueInMs: -9000, isRefreshing: true } as const;
    expect(nextRefreshText({ ...refresh, waitingMs: 999 })).toBe('refreshing now');
    expect(nextRefreshText({ ...refresh, waitingMs: 1000 })).toBe('waiting for capacity for 1 s');
  });
});
