import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import {
  areCredentialsRejected,
  isStationUnavailable,
  isUnavailable,
  mayAccept,
  type PendingRequest,
  type RequestResult,
  requestResult,
  throttledBefore,
  UpstreamReplies,
  wasInterrupted,
} from '../../../src/service/admission/upstream-replies.ts';
import { RequestFailure } from '../../../src/service/request-failure.ts';

const refusal = (retryAfterMs?: number) => new RequestFailure('status', '503', { status: 503, retryAfterMs });

/** A station, what became of its request, and when this started and ended; the latter at once unless given. */
type Row = readonly [station: string, result: RequestResult, startedMs: number, endedMs?: number];

/** What these replies say, one after another, refused ones with this `Retry-After`. */
function repliesOf(rows: readonly Row[], retryAfterMs = 0): UpstreamReplies {
  const replies = new UpstreamReplies();
  for (const station of ['a', 'b', 'c', 'd']) replies.expect(station);
  for (const row of rows) add(replies, row, [], retryAfterMs);
  return replies;
}

function add(replies: UpstreamReplies, row: Row, others: readonly PendingRequest[] = [], retryAfterMs = 0): boolean {
  const [station, result, startedMs, endedMs = startedMs] = row;
  const failure = result === 'refused' ? refusal(retryAfterMs) : undefined;
  return replies.add({ station, result, startedMs, endedMs, failure, isHanging: false }, others);
}

const startedAt = (startedMs: number): PendingRequest => ({ startedMs, isHanging: false });

describe('requestResult', () => {
  it.each<[RequestResult, unknown]>([
    ['accepted', new RequestFailure('not_found', '404', { status: 404 })],
    ['accepted', new RequestFailure('status', '500', { status: 500 })],
    ['accepted', new RequestFailure('status', '413', { status: 413 })],
    ['accepted', new ListingFailure('body', 'expected JSON')],
    ['expired', new RequestFailure('auth', '401', { status: 401, isExpired: true })],
    ['rejected', new RequestFailure('auth', '401', { status: 401 })],
    ['throttled', new RequestFailure('rate_limited', '429', { status: 429 })],
    ['refused', refusal()],
    ['timeout', new RequestFailure('timeout', 'no reply')],
    ['failed', new ListingFailure('timeout', 'the refresh did not finish')],
    ['failed', new RequestFailure('network', 'refused')],
    ['failed', new RequestFailure('tls', 'expired')],
    ['failed', new RequestFailure('status', '502', { status: 502 })],
    ['failed', new RequestFailure('status', '504', { status: 504 })],
    ['failed', new TypeError('a bug')],
    ['failed', 'aborted'],
  ])('is %s for %s', (result, error) => {
    expect(requestResult(error)).toBe(result);
  });
});

describe('mayAccept', () => {
  it.each([
    { what: 'started before', startedMs: 999, isHanging: false, expected: true },
    { what: 'started by then', startedMs: 1000, isHanging: false, expected: true },
    { what: 'started later', startedMs: 1001, isHanging: false, expected: false },
    { what: 'is of a station that hangs', startedMs: 999, isHanging: true, expected: false },
  ])('is $expected when the only request in flight $what', ({ expected, ...pending }) => {
    expect(mayAccept([pending], 1000)).toBe(expected);
    expect(mayAccept([], 1000)).toBe(false);
  });
});

describe('isUnavailable', () => {
  const FIRST: Row = ['a', 'refused', 1000];
  const LONG: readonly Row[] = [FIRST, ['a', 'refused', 6000]];
  const OF_THREE: readonly Row[] = [FIRST, ['b', 'refused', 1000], ['c', 'refused', 1000]];
  const ACCEPTED_JUST_BEFORE: Row = ['d', 'accepted', 0, 900];

  it.each<{ what: string; rows: readonly Row[]; retryAfterMs?: number; nowMs: number; expected: boolean }>([
    { what: 'no reply', rows: [], nowMs: 6000, expected: false },
    { what: '503 for five seconds', rows: LONG, nowMs: 6000, expected: true },
    { what: '503 for less than that', rows: [FIRST, ['a', 'refused', 5999]], nowMs: 5999, expected: false },
    { what: 'no 503 after that', rows: [FIRST, ['a', 'refused', 5999]], nowMs: 9000, expected: false },
    { what: 'an accepted request', rows: [...LONG, ['b', 'accepted', 6001]], nowMs: 9000, expected: false },
    { what: 'a 429 beside them', rows: [...LONG, ['b', 'throttled', 6001]], nowMs: 9000, expected: true },
    { what: 'failed requests beside them', rows: [...LONG, ['b', 'failed', 6001]], nowMs: 9000, expected: true },
    {
      what: '503 of a station beside accepted requests of others',
      rows: [FIRST, ['b', 'accepted', 1001], ['a', 'refused', 1500], ['a', 'refused', 7000]],
      nowMs: 7000,
      expected: false,
    },
    { what: 'a pause after a first 503', rows: [FIRST], retryAfterMs: 30_000, nowMs: 6000, expected: true },
    { what: 'less than five seconds of it', rows: [FIRST], retryAfterMs: 30_000, nowMs: 5999, expected: false },
    {
      what: 'a pause after 503 of a station, and an accepted request of another just before',
      rows: [ACCEPTED_JUST_BEFORE, FIRST],
      retryAfterMs: 30_000,
      nowMs: 6000,
      expected: false,
    },
    {
      what: 'a pause after 503 of three stations, and an accepted request just before',
      rows: [ACCEPTED_JUST_BEFORE, ...OF_THREE],
      retryAfterMs: 30_000,
      nowMs: 6000,
      expected: true,
    },
  ])('is $expected after $what', ({ rows, retryAfterMs = 0, nowMs, expected }) => {
    expect(isUnavailable(repliesOf(rows, retryAfterMs).upstream, [], nowMs)).toBe(expected);
  });

  it('waits for requests that started before the latest 503, and stays while later ones are in flight', () => {
    const replies = repliesOf([FIRST]);
    const unavailableAfter = (row: Row, others: readonly PendingRequest[]) => {
      add(replies, row, others);
      return isUnavailable(replies.upstream, others, 9000);
    };
    expect(unavailableAfter(['a', 'refused', 6000, 6100], [startedAt(6000)])).toBe(false);
    expect(unavailableAfter(['b', 'refused', 6000, 6200], [startedAt(6001)])).toBe(true);
    expect(unavailableAfter(['c', 'refused', 6002, 6300], [startedAt(6001)])).toBe(true);
  });

  it('waits for the requests that are sent together after a pause', () => {
    const replies = repliesOf([ACCEPTED_JUST_BEFORE, FIRST], 30_000);
    add(replies, ['b', 'refused', 31_000, 31_010], [startedAt(31_000)]);
    expect(isUnavailable(replies.upstream, [startedAt(31_000)], 31_010)).toBe(false);
    add(replies, ['c', 'refused', 31_000, 31_020]);
    expect(isUnavailable(replies.upstream, [], 31_020)).toBe(true);
  });

  it('waits in a pause for requests that started before it', () => {
    const { upstream } = repliesOf([FIRST], 30_000);
    const unavailableBeside = (startedMs: number) => isUnavailable(upstream, [startedAt(startedMs)], 7000);
    expect([500, 1000, 1001].map(unavailableBeside)).toEqual([false, false, true]);
  });

  it('needs no further station if the upstream has only one', () => {
    const replies = new UpstreamReplies();
    replies.expect('a');
    add(replies, ['a', 'accepted', 0, 900]);
    add(replies, ['a', 'refused', 950, 1000], [], 30_000);
    expect(isUnavailable(replies.upstream, [], 6000)).toBe(true);
    replies.expect('b');
    expect(isUnavailable(replies.upstream, [], 6000)).toBe(false);
  });
});

describe('wasInterrupted', () => {
  it.each<{ what: string; rows: readonly Row[]; startedMs: number; expected: boolean }>([
    { what: 'accepted requests', rows: [['a', 'accepted', 20_000]], startedMs: 20_001, expected: false },
    { what: 'a failed request', rows: [['a', 'failed', 20_000]], startedMs: 20_001, expected: true },
    { what: 'a 503', rows: [['a', 'refused', 20_000]], startedMs: 20_001, expected: true },
    { what: 'a 429', rows: [['a', 'throttled', 20_000]], startedMs: 20_001, expected: false },
    { what: 'a failure that came later', rows: [['a', 'failed', 0, 20_000]], startedMs: 20_000, expected: false },
    {
      what: 'a failure and an accepted request',
      rows: [
        ['a', 'failed', 20_000],
        ['b', 'accepted', 20_000],
      ],
      startedMs: 20_001,
      expected: false,
    },
  ])('is $expected after $what', ({ rows, startedMs, expected }) => {
    expect(wasInterrupted(repliesOf(rows).upstream, startedMs)).toBe(expected);
  });

  it('is false for ten seconds after the interruption before', () => {
    const interruptedAgainAt = (nowMs: number) => {
      const rows: readonly Row[] = [
        ['a', 'failed', 20_000],
        ['a', 'accepted', 20_500, 21_000],
        ['a', 'failed', nowMs],
      ];
      return wasInterrupted(repliesOf(rows).upstream, nowMs + 1);
    };
    expect([30_999, 31_000].map(interruptedAgainAt)).toEqual([false, true]);
  });
});

describe('isStationUnavailable', () => {
  it.each([
    { replies: 10, sinceMs: 5000, expected: true },
    { replies: 9, sinceMs: 5000, expected: false },
    { replies: 10, sinceMs: 5001, expected: false },
  ])('is $expected at 10 s after $replies replies with 503 since $sinceMs ms', ({ expected, ...refusals }) => {
    expect(isStationUnavailable({ ...refusals, startedMs: 0, retryAfterMs: undefined }, 10_000)).toBe(expected);
    expect(isStationUnavailable(undefined, 10_000)).toBe(false);
  });
});

describe('throttledBefore', () => {
  it.each([
    { startedMs: 999, expected: 0 },
    { startedMs: 1000, expected: 3 },
    { startedMs: 5999, expected: 3 },
    { startedMs: 6000, expected: 0 },
  ])(
    'counts $expected requests refused since 1 s before an accepted one of $startedMs ms',
    ({ startedMs, expected }) => {
      const refusals = { replies: 3, sinceMs: 1000, startedMs: 900, retryAfterMs: undefined };
      expect(throttledBefore(refusals, startedMs)).toBe(expected);
    },
  );
});

describe('areCredentialsRejected', () => {
  const OF_THREE: readonly Row[] = [
    ['a', 'rejected', 1],
    ['b', 'rejected', 2],
    ['c', 'rejected', 3],
  ];

  it.each<{ what: string; rows: readonly Row[]; expected: boolean }>([
    { what: 'two stations', rows: [OF_THREE[0] as Row, OF_THREE[1] as Row, ['b', 'rejected', 3]], expected: false },
    { what: 'three stations', rows: OF_THREE, expected: true },
    { what: 'three, and once before they are renewed', rows: [...OF_THREE, ['d', 'expired', 4]], expected: true },
    { what: 'three, until one is accepted', rows: [...OF_THREE, ['d', 'accepted', 4]], expected: false },
    { what: 'three, until another failure', rows: [...OF_THREE, ['d', 'failed', 4]], expected: false },
  ])('is $expected when those of $what are rejected', ({ rows, expected }) => {
    expect(areCredentialsRejected(repliesOf(rows).upstream, [])).toBe(expected);
  });

  it('waits for requests that started before the latest rejected one', () => {
    const { upstream } = repliesOf(OF_THREE);
    const rejectedBeside = (startedMs: number) => areCredentialsRejected(upstream, [{ startedMs, isHanging: false }]);
    expect([3, 4].map(rejectedBeside)).toEqual([false, true]);
  });
});

describe('UpstreamReplies', () => {
  it('knows which stations hang and which were answered, until they are no longer configured', () => {
    const replies = repliesOf([
      ['a', 'timeout', 0],
      ['b', 'timeout', 0],
      ['b', 'throttled', 1],
      ['c', 'timeout', 0],
      ['c', 'failed', 1],
    ]);
    const hanging = () => ['a', 'b', 'c', 'd'].filter((station) => replies.isHanging(station));
    expect([hanging(), replies.hangingStations]).toEqual([['a', 'c'], 2]);
    expect(['a', 'b', 'c', 'd'].filter((station) => replies.hasReplied(station))).toEqual(['b']);
    replies.retainStations(new Set(['b', 'c']));
    expect([hanging(), replies.upstream.stations]).toEqual([['c'], 2]);
  });

  it('forgets the refusals of a station when one of its later requests is accepted', () => {
    const before: readonly Row[] = [
      ['a', 'refused', 1000, 1100],
      ['a', 'refused', 1050, 1200],
    ];
    const refusalsAfter = (startedMs: number) =>
      repliesOf([...before, ['a', 'accepted', startedMs, 2000]]).refusalsOf('a');
    expect(refusalsAfter(1099)).toEqual({ replies: 2, sinceMs: 1100, startedMs: 1050, retryAfterMs: 0 });
    expect(refusalsAfter(1100)).toBeUndefined();
  });

  it('knows when the service recovers, and that no refusal before was throttling', () => {
    const replies = repliesOf([['a', 'refused', 0, 100]]);
    expect(add(replies, ['b', 'accepted', 10_000, 10_100])).toBe(true);
    expect(add(replies, ['c', 'accepted', 10_050, 10_150])).toBe(false);
    add(replies, ['a', 'refused', 10_050, 10_200]);
    expect(replies.refusalsOf('a')).toMatchObject({ replies: 0, sinceMs: 10_000 });
    expect(replies.upstream).toMatchObject({ recoveredMs: 10_100, unacceptedSinceMs: undefined, refusals: undefined });
  });

  it('lets the typical latency follow the median of the accepted requests', () => {
    const latency = (...latenciesMs: number[]) =>
      repliesOf(latenciesMs.map((endedMs) => ['a', 'accepted', 0, endedMs])).upstream.typicalMs;
    expect(repliesOf([]).upstream.typicalMs).toBeUndefined();
    expect([latency(100), latency(100, 110), latency(100, 1000), latency(100, 1)]).toEqual([100, 110, 125, 80]);
    expect(repliesOf([['a', 'throttled', 0, 100]]).upstream.typicalMs).toBeUndefined();
  });
});
