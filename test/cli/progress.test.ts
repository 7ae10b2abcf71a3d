import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { CLEAR_LINE } from '../../src/cli/log-output.ts';
import { Progress } from '../../src/cli/progress.ts';

/** A terminal of this width, and a clock that the test sets. */
function terminal(columns = 80) {
  let written = '';
  let nowMs = 0;
  const write = (text: string) => {
    written += text;
  };
  const progress = new Progress({ write, columns: () => columns, nowMs: () => nowMs });
  return {
    progress,
    at: (ms: number) => {
      nowMs = ms;
    },
    /** What the line shows. */
    line: () => written.split(CLEAR_LINE).at(-1),
  };
}

const waiting = (name: string) => ({ name, isDone: false, isWaiting: true });
const active = (name: string) => ({ name, isDone: false, isWaiting: false });
const done = (name: string) => ({ name, isDone: true, isWaiting: false });

describe('Progress', () => {
  it('shows how many stations are done, and by name the one that has been refreshed for the longest time', () => {
    const { progress, at, line } = terminal();
    progress.paint([active('a'), waiting('b'), waiting('c')]);
    expect(line()).toBe('0 of 3 stations, 0 pages');
    at(9000);
    progress.pageReceived();
    progress.paint([done('a'), active('b'), active('c')]);
    expect(line()).toBe('1 of 3 stations, 1 page');
    at(12_000);
    progress.pageReceived();
    progress.paint([done('a'), active('b'), done('c')]);
    expect(line()).toBe('2 of 3 stations, 2 pages, slowest: b (3 s)');
    progress.clear();
    expect(line()).toBe('');
  });

  it('counts no time in which a station waits for the others', () => {
    const { progress, at, line } = terminal();
    progress.paint([active('first'), waiting('second')]);
    at(60_000);
    progress.paint([active('first'), active('second')]);
    expect(line()).toBe('0 of 2 stations, 0 pages, slowest: first (1 min)');
  });

  it('shows the pages of a single station, whose name controls no terminal', () => {
    const { progress, at, line } = terminal();
    for (let page = 0; page < 1234; page += 1) progress.pageReceived();
    at(65_000);
    progress.paint([active('a\u001b[2J')]);
    expect(line()).toBe('1,234 pages of a\\u{1b}[2J, 1 min 5 s');
  });

  it.each([0, 1, 14, 30, 200])('stays within %i columns', (columns) => {
    const { progress, at, line } = terminal(columns);
    progress.paint([active('训练平台'.repeat(5)), waiting('b')]);
    at(5000);
    progress.paint([active('训练平台'.repeat(5)), waiting('b')]);
    expect(stringWidth(String(line()))).toBeLessThan(columns || 80);
    expect(line()).toContain('0 of 2 stations'.slice(0, Math.max(0, (columns || 80) - 1)));
  });
});
