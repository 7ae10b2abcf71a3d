import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { ListProgress } from '../../src/cli/list-progress.ts';

function terminal({ columns = 60 as number | undefined, listings = 1, title = 'prod' } = {}) {
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
  const page = (
    offset: number,
    total: number | undefined,
    { listing = 'main', received = 100, afterMs = 1000 } = {},
  ) => {
    nowMs += afterMs;
    progress.pageReceived({ rows: 'resources', query: { listing }, offset, received, total });
  };
  const retried = () => {
    nowMs += 1000;
    progress.retried();
  };
  /** The line after each repaint. */
  const lines = () => written.split('\r\u001b[K').slice(1);
  return { progress, page, retried, lines, written: () => written };
}

describe('ListProgress', () => {
  it('shows the station before the first page', () => {
    expect(terminal().lines()).toEqual(['prod: 0 pages']);
  });

  it('shows received and expected pages with a bar', () => {
    const { page, lines } = terminal({ columns: 41 });
    page(0, 400);
    page(100, 400);
    page(200, 400);
    page(300, 400);
    expect(lines().slice(1)).toEqual([
      'prod: 1 of 4 pages [#####..............]',
      'prod: 2 of 4 pages [##########.........]',
      'prod: 3 of 4 pages [##############.....]',
      'prod: 4 of 4 pages [###################]',
    ]);
  });

  it('expects more pages when pages are short', () => {
    const { page, lines } = terminal();
    page(0, 400, { received: 50 });
    expect(lines().at(-1)).toMatch(/^prod: 1 of 8 pages /);
  });

  it('shows no expected pages until every listing has reported its total', () => {
    const { page, lines } = terminal({ listings: 2 });
    page(0, 200);
    expect(lines().at(-1)).toBe('prod: 1 page');
    page(0, 100, { listing: 'alertable' });
    expect(lines().at(-1)).toMatch(/^prod: 2 of 3 pages \[/);
    page(0, undefined, { listing: 'alertable' });
    expect(lines().at(-1)).toBe('prod: 3 pages');
  });

  it('keeps the total when later pages report none', () => {
    const { page, lines } = terminal();
    page(0, 300);
    page(100, undefined);
    expect(lines().at(-1)).toMatch(/^prod: 2 of 3 pages /);
  });

  it('restarts a listing at offset 0', () => {
    const { page, lines } = terminal();
    page(0, 200);
    page(100, 200);
    page(0, 200);
    expect(lines().at(-1)).toMatch(/^prod: 3 of 4 pages /);
  });

  it('expects no more pages when more records arrived than the total', () => {
    const { page, lines } = terminal();
    page(0, 50);
    expect(lines().at(-1)).toMatch(/^prod: 1 of 1 page \[#+\]$/);
  });

  it('shows a bar for an empty listing', () => {
    const { page, lines } = terminal();
    page(0, 0, { received: 0 });
    expect(lines().at(-1)).toMatch(/^prod: 1 of 1 page \[#+\]$/);
  });

  it('shows retries', () => {
    const { page, retried, lines } = terminal();
    retried();
    expect(lines().at(-1)).toBe('prod: 0 pages, 1 retry');
    retried();
    page(0, 100);
    expect(lines().at(-1)).toMatch(/^prod: 1 of 1 page, 2 retries \[/);
  });

  it.each([0, 1, 8, 12, 20, 30, 31, 34, 200])('stays within %i columns', (columns) => {
    const { page, lines } = terminal({ columns, title: '训练平台' });
    page(0, 400);
    for (const line of lines()) expect(stringWidth(line)).toBeLessThan(columns || 80);
    expect(lines()).toHaveLength(2);
  });

  it('omits the station first, then truncates', () => {
    const lineAt = (columns: number) => terminal({ columns }).lines()[0];
    expect([14, 13, 5].map(lineAt)).toEqual(['prod: 0 pages', '0 pages', '0 pa']);
  });

  it('escapes control characters in the station name', () => {
    expect(terminal({ title: 'a\u001b[2J' }).lines()).toEqual(['a\\u{1b}[2J: 0 pages']);
  });

  it('limits the repaint rate', () => {
    const { page, lines } = terminal();
    for (let at = 0; at < 100; at += 1) page(100 * at, 10_000, { afterMs: 1 });
    expect(lines()).toHaveLength(3);
  });

  it('clears the line once', () => {
    const { progress, page, lines } = terminal();
    page(0, 100);
    progress.clear();
    progress.clear();
    expect(lines()).toHaveLength(3);
    expect(lines().at(-1)).toBe('');
  });

  it('writes nothing without a terminal', () => {
    let written = '';
    const progress = new ListProgress({
      title: 'prod',
      listings: 1,
      write: (text) => (written += text),
      columns: () => undefined,
    });
    progress.pageReceived({ rows: 'resources', query: {}, offset: 0, received: 1, total: 1 });
    progress.retried();
    progress.clear();
    expect(written).toBe('');
  });
});
