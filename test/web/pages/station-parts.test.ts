import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/status/station-status.ts';
import { coverageText, stateBadge, stateNote } from '../../../src/web/pages/station-parts.ts';
import { NOW_MS, SNAPSHOT, STATION, withRejected } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const GONE = { snapshot: undefined };

describe('stateBadge', () => {
  it.each<[text: string, style: string, Partial<StationStatus>]>([
    ['up', 'up good', {}],
    ['failing', 'failing warning', { up: false }],
    ['failing', 'failing bad', { up: false, isUpstreamDown: true }],
    ['failing', 'failing bad', { up: false, lastSuccessMs: NOW_MS - 21 * 60_000 }],
    ['no data', 'no-data bad', { ...GONE, dueInMs: -300_000 }],
    ['not tried', 'not-tried unclear', { ...GONE, up: undefined }],
    // Not in the colour of success.
    ['up', 'up warning', { snapshot: { ...SNAPSHOT, complete: false } }],
    ['up', 'up unclear', { snapshot: { ...SNAPSHOT, unknown: 1 } }],
  ])('is "%s" in the style %s with %j', (words, style, changes) => {
    const { text, tags } = shown(stateBadge({ ...STATION, ...changes }, NOW_MS).text);
    expect([text, tags[0]?.attributes['class']]).toEqual([words, `state ${style}`]);
  });
});

describe('stateNote', () => {
  it.each<[text: string, Partial<StationStatus>]>([
    ['', {}],
    ['refreshing now', { ...GONE, dueInMs: -300_000, isRefreshing: true }],
    ['overdue by 2 h', { ...GONE, refresh: 'background', dueInMs: -7_200_000 }],
    ['overdue by 0 s', { ...GONE, refresh: 'background', dueInMs: 100 }],
    ['incomplete (1,200 rejected), 1 unknown', { snapshot: { ...SNAPSHOT, ...withRejected(1200), unknown: 1 } }],
  ])('is "%s" with %j', (text, changes) => {
    expect(stateNote({ ...STATION, ...changes })).toBe(text);
  });
});

describe('coverageText', () => {
  it.each<[StationStatus['snapshot'], string]>([
    [{ ...SNAPSHOT, withRules: 6, withoutRules: 2 }, '75 %'],
    [{ ...SNAPSHOT, withRules: 0, withoutRules: 1, unknownCoverage: 9 }, '0–90 % 9 unknown'],
    [{ ...SNAPSHOT, withRules: 166, withoutRules: 0, unknownCoverage: 84 }, '66–100 % 84 unknown'],
    [{ ...SNAPSHOT, withRules: 1, withoutRules: 999, unknownCoverage: 1 }, '<1 % 1 unknown'],
    [undefined, '– no data'],
    [SNAPSHOT, '– no resources'],
    [{ ...SNAPSHOT, resources: 3 }, '– all listed resources are exempt'],
    [{ ...SNAPSHOT, unknownCoverage: 9 }, '– alert rules are not reported'],
    [{ ...SNAPSHOT, alertRules: 12, unknownCoverage: 9 }, '– unknown for 9 resources'],
  ])('of the snapshot %j is %j', (snapshot, text) => {
    expect(shown(coverageText(snapshot, '#').text).text).toBe(text);
  });
});
