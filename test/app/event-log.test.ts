import { describe, expect, it } from 'vitest';
import { limitLog, throttleLog } from '../../src/app/event-log.ts';
import { setUpLog } from './recorded-log.ts';

describe('throttleLog', () => {
  it('logs the first throttled request, then one per hour with the number of times since', () => {
    const { log, now, advance, logged } = setUpLog();
    const { throttled } = throttleLog(log, 'main', now);
    for (let time = 0; time < 500; time += 1) throttled(429);
    advance(3_600_000);
    throttled(503);
    expect(logged(true)).toEqual([
      'warn msg="upstream throttles requests" upstream=main status=429 times=1',
      'warn msg="upstream throttles requests" upstream=main status=503 times=500',
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
