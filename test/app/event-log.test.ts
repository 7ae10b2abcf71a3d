import { describe, expect, it } from 'vitest';
import { limitLog, throttleLog } from '../../src/app/event-log.ts';
import { setUpLog } from './recorded-log.ts';

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
