import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_REASONS, failureAdvice } from '../../../src/model/failure.ts';
import { INCOMPLETE_ADVICE } from '../../../src/model/listing.ts';
import { html } from '../../../src/web/pages/html.ts';
import { coverageText, stateBadge, stationNotes } from '../../../src/web/pages/station-parts.ts';
import { NOW_MS, SNAPSHOT, STATION, withRejected } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const GONE = { snapshot: undefined };

describe('stateBadge', () => {
  it.each<[text: string, style: string, Partial<StationStatus>]>([
    ['up', 'up', {}],
    ['failing', 'failing', { up: false }],
    ['not tried', 'not-tried', { up: undefined }],
    ['no data: not scraped for 5 min', 'no-data', { ...GONE, dueInMs: -300_000 }],
    ['no data: refreshing now', 'no-data', { ...GONE, dueInMs: -300_000, isRefreshing: true }],
    ['no data: overdue by 2 h', 'no-data', { ...GONE, refresh: 'background', dueInMs: -7_200_000 }],
    ['no data: overdue by 0 s', 'no-data', { ...GONE, refresh: 'background', dueInMs: 100 }],
    // Not in the colour of success.
    ['up: incomplete', 'incomplete', { snapshot: { ...SNAPSHOT, complete: false } }],
    ['up: 1,200 rejected', 'incomplete', { snapshot: { ...SNAPSHOT, ...withRejected(1200) } }],
    ['up', 'unclear', { snapshot: { ...SNAPSHOT, unknown: 1 } }],
  ])('is "%s" in the style %s with %j', (words, style, changes) => {
    const { text, tags } = shown(stateBadge({ ...STATION, ...changes }).text);
    expect([text, tags[0]?.attributes['class']]).toEqual([words, `state ${style}`]);
  });
});

describe('stationNotes', () => {
  const notesOf = (changes: Partial<StationStatus>) =>
    shown(html`${stationNotes({ ...STATION, ...changes }, NOW_MS)}`.text).text;

  it('is empty when all is well', () => {
    expect(notesOf({})).toBe('');
  });

  it.each(FAILURE_REASONS)('shows the meaning, the message and the advice for %s', (reason) => {
    const { meaning, advice } = failureAdvice({ reason });
    expect(notesOf({ failure: { reason, message: 'line 1\n<line 2>' } })).toBe(
      `${meaning} Failing since 03:04 UTC, 55 s. Last success: 55 s ago. ${reason}: line 1 <line 2> What to do: ${advice}`,
    );
  });

  it('does not advise to wait longer for a service that never answered', () => {
    const timeout = { reason: 'timeout', message: 'm' } as const;
    for (const silent of [{ isHanging: true }, { lastSuccessMs: undefined }])
      expect(notesOf({ failure: timeout, ...silent })).toMatch(/What to do: Check base_url, /);
    expect(failureAdvice(timeout).advice).toMatch(/^If the service never answers, /);
  });

  const failure = { reason: 'auth', message: 'm' } as const;

  it('shows that no refresh has succeeded yet', () => {
    expect(notesOf({ ...GONE, failure, lastSuccessMs: undefined })).toContain('No refresh has succeeded yet.');
  });

  it('shows why data may be missing resources, also while refreshes fail', () => {
    const reasons = {
      incompleteReasons: [{ reason: 'total_mismatch' as const, text: 'total 500, <494> listed' }],
      addsUp: false,
      complete: false,
    };
    const snapshot = { ...SNAPSHOT, ...reasons, rejected: 3 };
    expect(notesOf({ snapshot })).toBe(
      `The data may be missing resources listing incomplete: total 500, <494> listed What to do: ${INCOMPLETE_ADVICE.total_mismatch}`,
    );
    expect(notesOf({ failure, snapshot: { ...SNAPSHOT, ...withRejected(1) } })).toContain('1 record rejected');
  });
});

describe('coverageText', () => {
  it.each<[StationStatus['snapshot'], string]>([
    [{ ...SNAPSHOT, withRules: 6, withoutRules: 2 }, '75 %'],
    [{ ...SNAPSHOT, withRules: 0, withoutRules: 1, unknownCoverage: 9 }, '0 % 9 unknown'],
    [{ ...SNAPSHOT, withRules: 1, withoutRules: 0, unknownCoverage: 1200 }, '100 % 1,200 unknown'],
    [undefined, '– no data'],
    [SNAPSHOT, '– no resources'],
    [{ ...SNAPSHOT, resources: 3 }, '– no listed resource can have alerts'],
    [{ ...SNAPSHOT, unknownCoverage: 9 }, '– alert rules are not reported'],
    [{ ...SNAPSHOT, alertRules: 12, unknownCoverage: 9 }, '– unknown for 9 resources'],
  ])('of the snapshot %j is %j', (snapshot, text) => {
    expect(shown(coverageText(snapshot).text).text).toBe(text);
  });
});
