import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationStatus, UpstreamStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_REASONS, type FailureReason } from '../../../src/model/failure.ts';
import { failureGroups, fleetSummary } from '../../../src/web/pages/fleet-summary.ts';
import { SNAPSHOT, STATION, UPSTREAM, withRejected } from '../fake-station.ts';

const MINUTE_MS = 60_000;

const up = (name: string, changes: Partial<StationStatus> = {}): StationStatus => ({ ...STATION, name, ...changes });

const failing = (name: string, reason: FailureReason, status = 503) =>
  up(name, { up: false, failure: { reason, message: 'm', status } });

const gone = (name: string, changes: Partial<StationStatus> = {}) =>
  up(name, { snapshot: undefined, dueInMs: -5 * MINUTE_MS, ...changes });

const untried = (name: string) => gone(name, { up: undefined });

const waiting = (waitingMs: number) => ({ isRefreshing: true, waitingMs });

const lacking = (name: string, changes: Partial<typeof SNAPSHOT>) =>
  up(name, { snapshot: { ...SNAPSHOT, ...changes } });

const INCOMPLETE = { complete: false, incompleteReasons: ['total 5, 4 listed'] };

const fleet = (count: number, station: (name: string) => StationStatus) =>
  Array.from({ length: count }, (_, index) => station(`s${index}`));

const throttled = (holdMs: number): UpstreamStatus => ({
  ...UPSTREAM,
  load: { ...UPSTREAM.load, recentThrottled: 7, holdMs },
});

describe('fleetSummary', () => {
  it.each<[text: string, tone: string, stations: readonly StationStatus[], upstreams?: readonly UpstreamStatus[]]>([
    ['No stations are configured on this shard.', 'neutral', []],
    ['1 of 1 station up.', 'good', [up('prod')]],
    ['1,000 of 1,000 stations up.', 'good', fleet(1000, up)],
    ['0 of 1 station up; prod not tried yet.', 'neutral', [untried('prod')]],
    ['4 of 6 stations up; 2 not tried yet.', 'neutral', [...fleet(4, up), untried('a'), untried('b')]],
    ['5 of 6 stations up; 1 failing: edge (403 Forbidden).', 'bad', [...fleet(5, up), failing('edge', 'forbidden')]],
    [
      '1 of 2 stations up; 1 failing, without data: edge (401 Unauthorized).',
      'bad',
      [up('a'), { ...failing('edge', 'auth'), snapshot: undefined }],
    ],
    [
      '0 of 3 stations up; 3 failing: 2 of upstream main (503 Service Unavailable), c (502 Bad Gateway).',
      'bad',
      [...fleet(2, (name) => failing(name, 'status')), failing('c', 'status', 502)],
    ],
    [
      '988 of 999 stations up; 11 failing: 10 of upstream main (429 Too Many Requests), edge (connection failed).',
      'bad',
      [
        ...fleet(988, up),
        { ...failing('edge', 'network'), upstream: 'other' },
        ...fleet(10, (name) => failing(name, 'rate_limited')),
      ],
      [throttled(0)],
    ],
    [
      '0 of 300 stations up; 300 failing, without data: 300 of upstream main (403 Forbidden).',
      'bad',
      fleet(300, (name) => ({ ...failing(name, 'forbidden'), snapshot: undefined })),
    ],
    [
      '0 of 5 stations up; 5 failing, 1 without data: a (timeout), b (connection failed), c (TLS handshake failed), 2 more causes.',
      'bad',
      [
        failing('a', 'timeout'),
        failing('b', 'network'),
        failing('c', 'tls'),
        failing('d', 'auth'),
        { ...failing('e', 'body'), snapshot: undefined },
      ],
    ],
    ['5 of 6 stations up; prod without data: not scraped for 5 min.', 'bad', [...fleet(5, up), gone('prod')]],
    [
      '0 of 6 stations up; 6 without data: not scraped for 7 min.',
      'bad',
      [...fleet(5, gone), gone('x', { dueInMs: -7 * MINUTE_MS })],
    ],
    ['0 of 1 station up; prod without data: overdue by 5 min.', 'bad', [gone('prod', { refresh: 'background' })]],
    [
      '1 of 2 stations up; b without data: waiting for capacity for 2 min.',
      'bad',
      [up('a'), gone('b', waiting(2 * MINUTE_MS))],
    ],
    [
      '3 of 3 stations up; 2 waiting for capacity for 4 min 5 s.',
      'warning',
      [up('a', waiting(59_000)), up('b', waiting(61_000)), up('c', waiting(4 * MINUTE_MS + 5000))],
    ],
    ['2 of 2 stations up; b not scraped for 10 min.', 'warning', [up('a'), up('b', { dueInMs: -10 * MINUTE_MS })]],
    [
      '2 of 2 stations up; b overdue by 10 min.',
      'warning',
      [up('a'), up('b', { dueInMs: -10 * MINUTE_MS, refresh: 'background' })],
    ],
    [
      '2 of 2 stations up; b may be missing resources: listing incomplete: total 5, 4 listed.',
      'warning',
      [up('a'), lacking('b', INCOMPLETE)],
    ],
    [
      '2 of 2 stations up; 2 may be missing resources: a (listing incomplete), b (1 record rejected).',
      'warning',
      [lacking('a', INCOMPLETE), lacking('b', withRejected(1))],
    ],
    [
      `7 of 7 stations up; 7 may be missing resources: ${[0, 1, 2, 3, 4].map((n) => `s${n} (3 records rejected), `).join('')}and 2 more.`,
      'warning',
      fleet(7, (name) => lacking(name, withRejected(3))),
    ],
    ['2 of 2 stations up; upstream main throttled.', 'warning', fleet(2, up), [throttled(0)]],
    [
      '2 of 2 stations up; upstream main throttled, next requests in 2 min.',
      'warning',
      fleet(2, up),
      [throttled(2 * MINUTE_MS)],
    ],
    [
      '2 of 6 stations up; 2 failing: 2 of upstream main (timeout); c without data: not scraped for 5 min; d waiting for capacity for 1 min; e not tried yet.',
      'bad',
      [failing('a', 'timeout'), failing('b', 'timeout'), gone('c'), up('d', waiting(MINUTE_MS)), untried('e'), up('f')],
    ],
  ])('is "%s" in the tone %s', (text, tone, stations, upstreams = [UPSTREAM]) => {
    expect(fleetSummary(stations, upstreams, failureGroups(stations))).toEqual({ text, tone });
  });

  it('never sounds good while a station has no data, fails or was not tried', () => {
    const station = fc.record({
      up: fc.constantFrom(true, false, undefined),
      hasData: fc.boolean(),
      reason: fc.constantFrom(...FAILURE_REASONS),
      upstream: fc.constantFrom('main', 'other'),
      dueInMs: fc.integer({ min: -3_600_000, max: 60_000 }),
      waitingMs: fc.option(fc.integer({ min: 0, max: 600_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(station, { minLength: 1, maxLength: 8 }), (drawn) => {
        const stations = drawn.map(({ hasData, reason, ...changes }, index) =>
          up(`s${index}`, {
            ...changes,
            ...(changes.up === false && { failure: { reason, message: 'm' } }),
            ...(!hasData && { snapshot: undefined }),
          }),
        );
        const { text, tone } = fleetSummary(stations, [UPSTREAM], failureGroups(stations));
        if (!drawn.every(({ up: isUp, hasData }) => isUp && hasData)) {
          expect(tone).not.toBe('good');
          expect(text).not.toMatch(/^(\d+) of \1 stations? up/);
        }
        if (drawn.some(({ up: isUp, hasData }) => isUp === false || (isUp && !hasData))) expect(tone).toBe('bad');
        expect(text).toMatch(/^\S.*\.$/);
        expect(text).not.toMatch(/undefined|NaN|Infinity/);
      }),
    );
  });
});
