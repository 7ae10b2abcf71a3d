import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { ListProgress } from '../../src/cli/list-progress.ts';

function terminal({ columns = 60, title = 'prod' } = {}) {
  let written = '';
  let nowMs = 0;
  const progress = new ListProgress({
    title,
    write: (text) => {
      written += text;
    },
    columns: () => columns,
    nowMs: () => nowMs,
  });
  return {
    page: (afterMs = 1000) => {
      nowMs += afterMs;
      progress.pageReceived();
    },
    retried: () => progress.retried(),
    /** The line after each repaint. */
    lines: () => written.split('\r\u001b[K').slice(1),
  };
}

describe('ListProgress', () => {
  it('shows pages and retries', () => {
    const { page, retried, lines } = terminal();
    retried();
    retried();
    page();
    expect(lines()).toEqual(
      ['0 pages', '0 pages, 1 retry', '0 pages, 2 retries', '1 page, 2 retries'].map((line) => `prod: ${line}`),
    );
  });

  it.each([0, 1, 14, 20, 200])('stays within %i columns', (columns) => {
    const { page, lines } = terminal({ columns, title: '训练平台' });
    page();
    for (const line of lines()) expect(stringWidth(line)).toBeLessThan(columns || 80);
    expect(lines()).toHaveLength(2);
  });

  it('escapes control characters in the title', () => {
    expect(terminal({ title: 'a\u001b[2J' }).lines()).toEqual(['a\\u{1b}[2J: 0 pages']);
  });

  it('limits the repaint rate', () => {
    const { page, lines } = terminal();
    for (let pages = 0; pages < 100; pages += 1) page(1);
    expect(lines()).toHaveLength(3);
  });
});
