import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { ListProgress } from '../../src/cli/list-progress.ts';

function terminal({ columns = 60, listings = 1, title = 'prod' } = {}) {
  let written = '';
  let nowMs = 0;
  const progress = new ListProgress({
    title,
    listings,
    write: (text) => {
      written += text;
    },
    columns: () => columns,
    nowMs: () => nowMs,
  });
  const page = (offset: number, total: number | undefined, { received = 100, afterMs = 1000 } = {}) => {
    nowMs += afterMs;
    progress.pageReceived({ offset, received, total });
  };
  const retried = () => {
    nowMs += 1000;
    progress.retried();
  };
  /** The line after each repaint. */
  const lines = () => written.split('\r\u001b[K').slice(1);
  return { page, retried, lines };
}

type Page = readonly [offset: number, total: number | undefined, details?: { received?: number }];

describe('ListProgress', () => {
  it.each<readonly [what: string, listings: number, pages: readonly Page[], line: string]>([
    ['nothing before the first page', 1, [], '0 pages'],
    [
      'received and expected pages',
      1,
      [
        [0, 400],
        [100, 400],
      ],
      '2 of 4 pages',
    ],
    ['no expected pages until every listing has reported its total', 2, [[0, 200]], '1 page'],
    [
      'no expected pages when a listing has no total',
      2,
      [
        [0, 200],
        [0, undefined],
      ],
      '2 pages',
    ],
    [
      'the total of a listing whose later pages report none',
      1,
      [
        [0, 300],
        [100, undefined],
      ],
      '2 of 3 pages',
    ],
    ['an empty listing', 1, [[0, 0, { received: 0 }]], '1 of 1 page'],
  ])('shows %s', (_, listings, pages, line) => {
    const { page, lines } = terminal({ listings });
    for (const args of pages) page(...args);
    expect(lines().at(-1)).toBe(`prod: ${line}`);
  });

  it('shows retries', () => {
    const { page, retried, lines } = terminal();
    retried();
    expect(lines().at(-1)).toBe('prod: 0 pages, 1 retry');
    retried();
    page(0, 100);
    expect(lines().at(-1)).toBe('prod: 1 of 1 page, 2 retries');
  });

  it.each([0, 1, 20, 31, 200])('stays within %i columns', (columns) => {
    const { page, lines } = terminal({ columns, title: '训练平台' });
    page(0, 400);
    for (const line of lines()) expect(stringWidth(line)).toBeLessThan(columns || 80);
    expect(lines()).toHaveLength(2);
  });

  it('escapes control characters in the title', () => {
    expect(terminal({ title: 'a\u001b[2J' }).lines()).toEqual(['a\\u{1b}[2J: 0 pages']);
  });

  it('limits the repaint rate', () => {
    const { page, lines } = terminal();
    for (let at = 0; at < 100; at += 1) page(100 * at, 10_000, { afterMs: 1 });
    expect(lines()).toHaveLength(3);
  });
});
