import { describe, expect, it } from 'vitest';
import { CAPACITY_GUIDE } from '../../../src/inventory/capacity.ts';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE } from '../../../src/model/failure.ts';
import { INCOMPLETE_ADVICE } from '../../../src/model/listing.ts';
import { html } from '../../../src/web/pages/html.ts';
import {
  coverageText,
  loadList,
  shortReason,
  stateBadge,
  stateNote,
  stationNotes,
} from '../../../src/web/pages/station-parts.ts';
import { mismatch } from '../../refresh/fixtures.ts';
import { NOW_MS, SNAPSHOT, STATION, UPSTREAM, withRejected } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const GONE = { snapshot: undefined };

describe('stateBadge', () => {
  it.each<[text: string, style: string, Partial<StationStatus>]>([
    ['up', 'up good', {}],
    ['failing', 'failing warning', { up: false }],
    ['failing', 'failing bad', { up: false, isUpstreamDown: true }],
    ['failing', 'failing bad', { up: false, lastSuccessMs: NOW_MS - 15 * 60_000 }],
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
    ['timeout', { up: false, failure: { reason: 'timeout', message: 'm' } }],
    ['not scraped for 5 min', { ...GONE, dueInMs: -300_000 }],
    ['refreshing now', { ...GONE, dueInMs: -300_000, isRefreshing: true }],
    ['overdue by 2 h', { ...GONE, refresh: 'background', dueInMs: -7_200_000 }],
    ['overdue by 0 s', { ...GONE, refresh: 'background', dueInMs: 100 }],
    ['incomplete', { snapshot: { ...SNAPSHOT, complete: false } }],
    ['1,200 rejected, 1 in an unknown state', { snapshot: { ...SNAPSHOT, ...withRejected(1200), unknown: 1 } }],
  ])('is "%s" with %j', (text, changes) => {
    expect(stateNote({ ...STATION, ...changes })).toBe(text);
  });
});

describe('shortReason', () => {
  it.each([
    ['status', 503, '503 Service Unavailable'],
    ['status', 520, '520'],
    ['status', undefined, 'error status'],
    ['timeout', undefined, 'timeout'],
  ] as const)('of %s with the status %s is "%s", whatever the message is', (reason, status, short) => {
    expect(shortReason({ reason, status, message: 'host:443 answered 404 Not Found' })).toBe(short);
  });
});

describe('stationNotes', () => {
  const notesOf = (changes: Partial<StationStatus>) =>
    shown(html`${stationNotes({ ...STATION, ...changes }, NOW_MS)}`.text).text;

  it('is empty when all is well', () => {
    expect(notesOf({})).toBe('');
  });

  it('shows the meaning, the message and the advice of a failure', () => {
    const { meaning, advice } = FAILURE_ADVICE.forbidden;
    expect(notesOf({ failure: { reason: 'forbidden', message: 'line 1\n<line 2>' } })).toBe(
      `${meaning} Failing since 03:04 UTC, 55 s. Last success: 55 s ago. What to do: ${advice} forbidden: line 1 <line 2>`,
    );
  });

  it('does not advise to wait longer for a service that never answered', () => {
    const timeout = { reason: 'timeout', message: 'm' } as const;
    for (const silent of [{ isHanging: true }, { lastSuccessMs: undefined }])
      expect(notesOf({ failure: timeout, ...silent })).toMatch(/What to do: Check base_url, /);
    expect(notesOf({ failure: timeout })).toMatch(/What to do: If the service never answers, /);
  });

  it('says that the service answers for others while one station hangs, and where to ask', () => {
    const text = notesOf({ failure: { reason: 'timeout', message: 'm' }, isHanging: true, othersAnswered: 2 });
    expect(text).toContain('The service does not answer for this station, but does for others on the same host.');
    expect(text).toContain('What to do: Report the station to the operators of the service');
    expect(text).not.toContain('firewall');
  });

  const failure = { reason: 'auth', message: 'm' } as const;

  it('shows that no refresh has succeeded yet', () => {
    expect(notesOf({ ...GONE, failure, lastSuccessMs: undefined })).toContain('No refresh has succeeded yet.');
  });

  it('shows why data may be missing resources, also while refreshes fail', () => {
    const incompleteReasons = [mismatch('total 500, <494> listed')];
    const snapshot = { ...SNAPSHOT, addsUp: false, complete: false, incompleteReasons, rejected: 3 };
    expect(notesOf({ snapshot })).toBe(
      `The data may be missing resources listing incomplete: total 500, <494> listed changes are not counted until a listing is complete What to do: ${INCOMPLETE_ADVICE.total_mismatch}`,
    );
    expect(notesOf({ failure, snapshot: { ...SNAPSHOT, ...withRejected(1) } })).toContain('1 record rejected');
  });
});

describe('coverageText', () => {
  it.each<[StationStatus['snapshot'], string]>([
    [{ ...SNAPSHOT, withRules: 6, withoutRules: 2 }, '75 %'],
    [{ ...SNAPSHOT, withRules: 0, withoutRules: 1, unknownCoverage: 9 }, '0 % 9 unknown'],
    [undefined, '– no data'],
    [SNAPSHOT, '– no resources'],
    [{ ...SNAPSHOT, resources: 3 }, '– no listed resource can have alerts'],
    [{ ...SNAPSHOT, unknownCoverage: 9 }, '– alert rules are not reported'],
    [{ ...SNAPSHOT, alertRules: 12, unknownCoverage: 9 }, '– unknown for 9 resources'],
  ])('of the snapshot %j is %j', (snapshot, text) => {
    expect(shown(coverageText(snapshot).text).text).toBe(text);
  });
});

describe('loadList', () => {
  const listOf = (load: Partial<typeof UPSTREAM.load>, neededPerSecond = 0) => {
    const capacity = { neededPerSecond, possiblePerSecond: 8, roundMs: 120_000, unknownStations: 0 };
    const list = loadList({ ...UPSTREAM, load: { ...UPSTREAM.load, ...load }, capacity }, NOW_MS);
    return shown(list?.text ?? '');
  };

  it.each<[text: string, load: Partial<typeof UPSTREAM.load>]>([
    ['', {}],
    ['', { waitingRefreshes: 3, oldestWaitingMs: 999 }],
    // The limit is above what is needed.
    ['', { recentThrottled: 36, requestsPerSecond: 4.2 }],
    ['service requested a pause until 03:06:01 UTC (Retry-After)', { holdMs: 61_000 }],
    ['12 refreshes waiting for capacity, the first for 3 min', { waitingRefreshes: 12, oldestWaitingMs: 180_000 }],
    ['3 stations hang (one probing request at a time)', { hangingStations: 3 }],
    ['1 station hangs (one probing request at a time)', { hangingStations: 1 }],
  ])('is "%s" with %j', (text, load) => {
    expect(listOf(load).text).toBe(text);
  });

  it('compares the requests with the capacity when it does not suffice, and links to the guide', () => {
    expect(listOf({ requestsPerSecond: 5 }, 8).text).toBe('');
    const { text, hrefs, tags } = listOf({ hangingStations: 1 }, 16);
    expect(text).toBe(
      '1 station hangs (one probing request at a time)8 requests/s are possible, 16 are needed: data gets up to 2 min old (what to do)',
    );
    expect(hrefs).toEqual([CAPACITY_GUIDE]);
    expect(tags.filter(({ name }) => name === 'li')).toHaveLength(2);
  });

  it('compares what the service accepts with what is needed while it throttles', () => {
    expect(listOf({ recentThrottled: 36 }, 16).text).toBe(
      'the service accepts 8 requests/s, 16 are needed: data gets up to 2 min old (36 of 180 requests throttled in 5 min)',
    );
  });
});
