import { describe, expect, it } from 'vitest';
import { html } from '../../../src/web/pages/html.ts';
import { pager, selectBox, shownRange, table } from '../../../src/web/pages/table.ts';
import { contentOf, shown } from './opened-page.ts';

const COLUMNS = [
  { heading: 'Name', by: 'name', cell: ({ name }: { name: string }) => name },
  { heading: 'Rules', by: 'rules', isNumber: true, cell: () => '2' },
];

describe('table', () => {
  it.each([
    ['', '<th scope="col"><a href="name">Name</a></th>'],
    ['name', '<th scope="col" aria-sort="ascending"><a href="-name">Name</a></th>'],
    ['-name', '<th scope="col" aria-sort="descending"><a href="name">Name</a></th>'],
    // Numbers are sorted from the largest on first.
    ['', '<th scope="col" class="number"><a href="-rules">Rules</a></th>'],
    ['-rules', '<th scope="col" class="number" aria-sort="descending"><a href="rules">Rules</a></th>'],
  ])('sorted by "%s" has the heading %s, which reverses the order', (sort, heading) => {
    const sorting = { sort, link: (by: string) => html`href="${by}"` };
    expect(table({ id: 'list', caption: 'List', columns: COLUMNS, sorting }, []).text).toContain(heading);
  });
});

describe('selectBox', () => {
  const optionsOf = (chosen?: string) =>
    contentOf(selectBox('state', 'State', ['up', ['no-data', 'no data']], chosen).text, 'filter-state');

  it('selects exactly one option, so that a script can tell whether it was changed', () => {
    expect([optionsOf(), optionsOf('no-data'), optionsOf('removed')]).toEqual([
      '<option value="" selected>any</option><option value="up">up</option><option value="no-data">no data</option>',
      '<option value="">any</option><option value="up">up</option><option value="no-data" selected>no data</option>',
      '<option value="">any</option><option value="up">up</option><option value="no-data">no data</option><option value="removed" selected>removed</option>',
    ]);
  });
});

describe('pager', () => {
  it.each([
    { requested: 1, text: '1–100 of 1,234FirstPreviousNextLast', links: ['?2', '?13'] },
    { requested: 12, text: '1,101–1,200 of 1,234FirstPreviousNextLast', links: ['?1', '?11', '?13', '?13'] },
    // The last page instead of one beyond the end.
    { requested: 99, text: '1,201–1,234 of 1,234FirstPreviousNextLast', links: ['?1', '?12'] },
  ])('shows the place of page $requested between links to others: $text', ({ requested, text, links }) => {
    const range = shownRange(1234, requested);
    expect(shown(pager('Pages', range, (target) => `?${target}`).text)).toMatchObject({ text, hrefs: links });
  });
});
