import { describe, expect, it } from 'vitest';
import { limitLog, logChanges, RefreshLog, throttleLog } from '../../src/app/event-log.ts';
import { createLogger } from '../../src/app/logger.ts';
import { refreshEntry } from '../../src/app/status.ts';
import { History } from '../../src/inventory/history.ts';
import type { EncodedSnapshot } from '../../src/metrics/station-encoder.ts';
import { type FailureReason, ListingFailure } from '../../src/model/failure.ts';
import type { Snapshot } from '../../src/refresh/snapshot.ts';
import type { StationView } from '../../src/refresh/station-cache.ts';
import { resourceOf } from '../refresh/fixtures.ts';
import { viewOf } from './station-view.ts';

const HOUR_MS = 3_600_000;

/** A log with its own clock. */
function setUpLog() {
  const lines: string[] = [];
  let nowMs = 0;
  return {
    log: createLogger({ level: 'debug', format: 'logfmt', write: (line) => lines.push(line), now: () => 0 }),
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
    /** The lines since the last call, without the timestamp; by default those above debug level. */
    logged: (debug = false) =>
      lines
        .splice(0)
        .map((line) => line.replace(/^ts=\S+ level=/, '').trim())
        .filter((line) => debug || !line.startsWith('debug')),
  };
}

function setUp() {
  const { log, now, ...rest } = setUpLog();
  const refreshLog = new RefreshLog(log, now);
  const histories = new Map<string, History>();
  const refresh = (
    station: string,
    reason?: FailureReason,
    listing: Partial<Snapshot> = {},
    error: unknown = undefined,
  ) => {
    const view = viewAfter(station, reason, listing, error, now());
    const history = histories.get(station) ?? new History();
    histories.set(station, history);
    history.add(refreshEntry(view, { waitedMs: 0, changes: undefined }));
    refreshLog.refreshed(view, history.outages);
  };
  return { refreshLog, refresh, ...rest };
}

function viewAfter(
  station: string,
  reason: FailureReason | undefined,
  listing: Partial<Snapshot>,
  error: unknown,
  lastAttemptMs: number,
): StationView<EncodedSnapshot> {
  const view = viewOf([], { name: station }, listing);
  const failure = reason && { reason, message: `no ${reason}`, error };
  return { ...view, health: { lastAttemptMs, lastSuccessMs: undefined, durationMs: 1234.5, failure } };
}

describe('RefreshLog', () => {
  it('logs a failure once, and the recovery with how long the station was down', () => {
    const { refresh, advance, logged } = setUp();
    refresh('prod');
    expect(logged()).toEqual([]);
    for (let attempts = 0; attempts < 3; attempts += 1) {
      refresh('prod', 'timeout');
      advance(10_000);
    }
    expect(logged(true)).toEqual([
      'warn msg="refresh failed" station=prod reason=timeout error="no timeout" duration_seconds=1.235',
      'debug msg="refresh failed" station=prod reason=timeout error="no timeout" duration_seconds=1.235 attempts=2 outage_seconds=10',
      'debug msg="refresh failed" station=prod reason=timeout error="no timeout" duration_seconds=1.235 attempts=3 outage_seconds=20',
    ]);
    refresh('prod');
    refresh('prod');
    expect(logged()).toEqual(['info msg="station recovered" station=prod outage_seconds=30 attempts=3']);
  });

  it('logs a failure again when its reason changes, and once per hour while it lasts', () => {
    const { refresh, advance, logged } = setUp();
    for (const reason of ['timeout', 'network', 'timeout', 'network'] as const) refresh('prod', reason);
    expect(logged()).toEqual([expect.stringContaining('reason=timeout'), expect.stringContaining('reason=network')]);
    advance(HOUR_MS);
    refresh('prod', 'network');
    refresh('prod', 'network');
    expect(logged()).toEqual([
      expect.stringContaining(
        'reason=network error="no network" duration_seconds=1.235 attempts=5 outage_seconds=3600',
      ),
    ]);
  });

  it('logs ten outages of a station per hour, with their recovery, and the others at debug level', () => {
    const { refresh, advance, logged } = setUp();
    const flap = (times: number) => {
      for (let outages = 0; outages < times; outages += 1) {
        refresh('prod', 'timeout');
        advance(1000);
        refresh('prod');
      }
    };
    flap(100);
    const lines = logged();
    expect(lines).toHaveLength(20);
    expect(lines.at(-2)).toContain(' outages=10');
    advance(HOUR_MS);
    flap(1);
    expect(logged()).toEqual([expect.stringContaining('refresh failed'), expect.stringContaining('station recovered')]);
  });

  it('logs an incomplete listing, rejected records, a postponed refresh and a reduced page size once per hour, and that the listing is complete again', () => {
    const { refresh, refreshLog, advance, logged } = setUp();
    const all = () => {
      refresh('prod', undefined, { complete: false, reportedTotal: 9, rejected: 2 });
      refreshLog.postponed({ name: 'prod' }, new ListingFailure('rate_limited', 'wait'));
      refreshLog.pageSizeReduced('prod', 50);
    };
    const expected = [
      'warn msg="records without a usable resource_id rejected" station=prod rejected=2',
      'warn msg="refresh succeeded, listing incomplete" station=prod resources=0 pages=1 duration_seconds=1.235 reported=9',
      'warn msg="refresh postponed" station=prod reason=rate_limited error=wait',
      'warn msg="page size reduced" station=prod page_size=50',
    ];
    all();
    expect(logged()).toEqual(expected);
    all();
    expect(logged(true)).toEqual(expected.map((line) => line.replace('warn', 'debug')));
    advance(HOUR_MS);
    all();
    expect(logged()).toEqual(expected);
    for (const complete of [true, true, false, true]) refresh('prod', undefined, { complete });
    expect(logged()).toEqual([
      'info msg="listing complete again" station=prod resources=0 pages=1 duration_seconds=1.235',
    ]);
  });

  it('adds the stack of an internal error', () => {
    const { refresh, logged } = setUp();
    refresh('prod', 'internal', {}, new Error('a bug'));
    expect(logged()).toEqual([expect.stringMatching(/reason=internal .* stack="Error: a bug\\n/)]);
  });

  it('forgets a station that is no longer configured', () => {
    const { refresh, refreshLog, logged } = setUp();
    refresh('prod', 'timeout');
    refreshLog.retainStations(new Set());
    refresh('prod', 'timeout');
    expect(logged()).toHaveLength(2);
  });

  it('logs a label with too many values once per hour', () => {
    const { refreshLog, advance, logged } = setUp();
    const view = viewOf(
      ['a', 'b', 'c'].map((id) => resourceOf(id, { type: id })),
      { labelValues: 1 },
    );
    for (let refresh = 0; refresh < 3; refresh += 1) refreshLog.refreshed(view, []);
    const line =
      'warn msg="label has too many values, further ones are published as (other)" station=prod label=resource_type resources=2 limit=1';
    expect(logged()).toEqual([line]);
    advance(HOUR_MS);
    refreshLog.refreshed(view, []);
    expect(logged()).toEqual([line]);
  });
});

describe('throttleLog', () => {
  const setUp = () => {
    const { log, now, ...rest } = setUpLog();
    return { ...throttleLog(log, 'main', now), ...rest };
  };

  it('is silent while requests are not throttled, whatever the ceiling', () => {
    const { limited, logged } = setUp();
    limited(Number.POSITIVE_INFINITY);
    limited(500);
    limited(500);
    expect(logged(true)).toEqual([]);
  });

  it('logs the first throttled request, and each change of the rate by a factor of two', () => {
    const { throttled, limited, logged } = setUp();
    throttled(429);
    limited(Number.POSITIVE_INFINITY);
    throttled(429);
    limited(18);
    limited(12);
    limited(9);
    limited(17);
    limited(19);
    expect(logged(true)).toEqual([
      'warn msg="upstream throttles requests" upstream=main status=429',
      'warn msg="request rate lowered" upstream=main requests_per_second=18 throttled=2',
      'warn msg="request rate lowered" upstream=main requests_per_second=9 throttled=2',
      'info msg="request rate raised" upstream=main requests_per_second=19 throttled=2',
    ]);
  });

  it('logs the end of throttling after five quiet minutes, and its next beginning', () => {
    const { throttled, limited, logged, advance } = setUp();
    throttled(429);
    limited(10);
    logged();
    advance(300_000);
    limited(Number.POSITIVE_INFINITY);
    limited(Number.POSITIVE_INFINITY);
    throttled(503);
    expect(logged(true)).toEqual([
      'info msg="upstream no longer throttles requests" upstream=main requests_per_second=unlimited throttled=1',
      'warn msg="upstream throttles requests" upstream=main status=503',
    ]);
  });
});

describe('limitLog', () => {
  it('logs each limit at once, then at most once per minute with the number of times since', () => {
    const { log, now, advance, logged } = setUpLog();
    const reached = limitLog(log, now);
    for (let time = 0; time < 500; time += 1) reached('pages');
    reached('max_requests');
    advance(59_999);
    reached('pages');
    advance(1);
    reached('pages', '10.0.0.7');
    expect(logged(true)).toEqual([
      'warn msg="limit of the web server reached" limit=pages times=1',
      'warn msg="limit of the web server reached" limit=max_requests times=1',
      'warn msg="limit of the web server reached" limit=pages times=501 client=10.0.0.7',
    ]);
  });
});

describe('logChanges', () => {
  it('logs each change with the resource', () => {
    const { log, logged } = setUpLog();
    const list = [{ change: 'rules', resource: resourceOf('a'), from: 2, to: 0 }] as const;
    logChanges(log, 'prod', { added: 0, removed: 0, stateChanges: 0, rulesChanges: 1, list, total: 1 });
    expect(logged()).toEqual([
      'info msg="resource changed" station=prod change=rules resource_id=a name=name-a display_name="Display a" resource_type=type.a from=2 to=0',
    ]);
  });
});
