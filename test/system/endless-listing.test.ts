import { describe, expect, it } from 'vitest';
import { listPages } from '../../src/upstream/paging/list-pages.ts';
import { readPage } from '../../src/upstream/protocol/page.ts';
import { readId } from '../../src/upstream/protocol/record.ts';

describe('listPages', () => {
  it('ends an endless listing', async () => {
    const run = async <T>(task: () => T) => task();
    const fetchPage = async (offset: number, requested: number) => {
      const resources = [{ resource_id: `r${offset}` }, { resource_id: `r${offset + 1}` }];
      return { page: await readPage(Buffer.from(JSON.stringify({ resources })), readId, run), offset, requested };
    };
    expect(await listPages(fetchPage, { pageSize: 2, concurrency: 1, run })).toMatchObject({
      complete: false,
      incompleteReasons: [{ reason: 'paging', text: 'the listing did not end within 100000 pages' }],
      pages: 100_000,
    });
  });
});
