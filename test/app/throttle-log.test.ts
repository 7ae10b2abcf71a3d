import { describe, expect, it } from 'vitest';
import { throttleLog } from '../../src/app/event-log.ts';
import { createLogger } from '../../src/app/logger.ts';

function setUp() {
  const lines: string[] = [];
  let nowMs = 0;
  const log = createLogger({ level: 'debug', format: 'logfmt', write: (line) => lines.push(line), now: () => 0 });
  const { throttled, limited } = throttleLog(log, 'main', () => nowMs);
  const messages = () => lines.splice(0).map((line) => line.replace(/^.*level=(\w+) msg=/, '$1 ').trim());
  return { throttled, limited, messages, advance: (ms: number) => (nowMs += ms) };
}

describe('throttleLog', () => {
  it('is silent while requests are not throttled, whatever the ceiling', () => {
    const { limited, messages } = setUp();
    limited(Number.POSITIVE_INFINITY);
    limited(500);
    limited(500);
    expect(messages()).toEqual([]);
  });

  it('logs the first throttled request, and each change of the rate by a factor of two', () => {
    const { throttled, limited, messages } = setUp();
    throttled();
    limited(Number.POSITIVE_INFINITY);
    throttled();
    limited(18);
    limited(12);
    limited(9);
    limited(17);
    limited(19);
    expect(messages()).toEqual([
      'warn "upstream throttles requests" upstream=main status=429',
      'warn "request rate lowered" upstream=main requests_per_second=18 throttled=2',
      'warn "request rate lowered" upstream=main requests_per_second=9 throttled=2',
      'info "request rate raised" upstream=main requests_per_second=19 throttled=2',
    ]);
  });

  it('logs the end of throttling after five quiet minutes, and its next beginning', () => {
    const { throttled, limited, messages, advance } = setUp();
    throttled();
    limited(10);
    messages();
    advance(300_000);
    limited(Number.POSITIVE_INFINITY);
    limited(Number.POSITIVE_INFINITY);
    throttled();
    expect(messages()).toEqual([
      'info "upstream no longer throttles requests" upstream=main requests_per_second=unlimited throttled=1',
      'warn "upstream throttles requests" upstream=main status=429',
    ]);
  });
});
