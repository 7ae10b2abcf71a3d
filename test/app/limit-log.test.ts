import { describe, expect, it } from 'vitest';
import { limitLog } from '../../src/app/event-log.ts';

describe('limitLog', () => {
  it('logs each limit at once, then at most once per minute with the number of times since', () => {
    let nowMs = 1000;
    const lines: unknown[] = [];
    const reached = limitLog({ warn: (message, fields) => lines.push([message, fields]) }, () => nowMs);
    for (let time = 0; time < 500; time += 1) reached('pages');
    reached('max_requests');
    nowMs += 59_999;
    reached('pages');
    nowMs += 1;
    reached('pages', '10.0.0.7');
    const line = (limit: string, times: number, client?: string) => [
      'limit of the web server reached',
      { limit, times, client },
    ];
    expect(lines).toEqual([line('pages', 1), line('max_requests', 1), line('pages', 501, '10.0.0.7')]);
  });
});
