import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { ListingFilters, Listing as ListingOf } from '../../src/model/listing.ts';
import type { Resource } from '../../src/model/resource.ts';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { RecordBudget } from '../../src/refresh/record-budget.ts';
import type { ListingObserver } from '../../src/upstream/http/observer.ts';
import { RequestFailure } from '../../src/upstream/http/request-failure.ts';
import { stationSource } from '../../src/upstream/station-source.ts';
import { codePoint } from '../code-point.ts';
import { listingContext } from './support/context.ts';

type Listing = ListingOf<Resource>;

interface PageRequest {
  readonly offset: number;
  readonly size: number;
  readonly nth: number;
}

type Reply = { readonly resources: unknown; readonly page?: unknown };

const record = (id: string) => ({ resource_id: id, name: `name of ${id}` });
const ids = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
const rows = (count: number) => ids(count).map(record);

const path = { subscription: 's', resourceGroup: 'g', zone: 'z', telemetryStation: 't' };
const query = { path, filters: {} };

interface Setting {
  readonly pageSize?: number;
  readonly concurrency?: number;
  readonly tasks?: TaskQueue;
  readonly observer?: Partial<ListingObserver>;
  readonly records?: RecordBudget;
  /** The largest page that the service accepts, by the number of the request. */
  readonly largest?: (nth: number) => number;
}

/** A source over a service that is given as a function from requests to replies. */
function sourceOf(
  answer: (request: PageRequest) => Reply | string,
  { pageSize = 10, concurrency = 4, tasks = new TaskQueue(), observer, records, largest = () => 1e9 }: Setting = {},
) {
  const requests: PageRequest[] = [];
  const get = async <T>(
    first: string,
    _context: unknown,
    read: (body: Uint8Array) => T | Promise<T>,
    smaller: () => string | undefined,
  ) => {
    for (let next: string | undefined = first; next !== undefined; next = smaller()) {
      const parameters = new URLSearchParams(next.slice(next.indexOf('?')));
      const [offset, size] = [Number(parameters.get('page.offset')), Number(parameters.get('page.size'))];
      const request = { offset, size, nth: requests.length };
      requests.push(request);
      await new Promise(setImmediate);
      if (size > largest(request.nth)) continue;
      const reply = answer(request);
      return read(Buffer.from(typeof reply === 'string' ? reply : JSON.stringify(reply)));
    }
    throw new RequestFailure('status', 'too large', { status: 413 });
  };
  const options = { baseUrl: new URL('http://service.test'), listStyle: 'repeat', pageSize, concurrency } as const;
  const source = stationSource(get, options, tasks, observer, { ...(records && { records }) });
  return { source, requests };
}

async function list(
  answer: (request: PageRequest) => Reply | string,
  setting: Setting = {},
): Promise<{ listing: Listing; requests: PageRequest[] }> {
  const { source, requests } = sourceOf(answer, setting);
  return { listing: await source.listResources(query, listingContext()), requests };
}

/** A correct service, with the quirks of real ones as options. */
function service(
  all: readonly unknown[],
  quirks: {
    cap?: (request: PageRequest) => number;
    total?: (request: PageRequest) => unknown;
    ignoreOffset?: boolean;
  } = {},
) {
  return (request: PageRequest): Reply => {
    const offset = quirks.ignoreOffset ? 0 : request.offset;
    const size = Math.min(request.size, quirks.cap?.(request) ?? Number.POSITIVE_INFINITY);
    const total = quirks.total ? quirks.total(request) : all.length;
    return {
      resources: all.slice(offset, offset + size),
      page: total === undefined ? null : { offset, size: 1, total },
    };
  };
}

const idsOf = (listing: Listing) => listing.parts.flat().map(({ id }) => id);
const noTotal = () => undefined;

describe('stationSource', () => {
  it('reads a listing of several pages in the service’s order', async () => {
    const { listing, requests } = await list(service(rows(35)));
    expect(idsOf(listing)).toEqual(ids(35));
    expect(listing).toMatchObject({ complete: true, reportedTotal: 35, pages: 4, duplicates: 0, rejected: 0 });
    expect(requests.map(({ offset, size }) => [offset, size])).toEqual([
      [0, 10],
      [10, 10],
      [20, 10],
      [30, 10],
    ]);
  });

  it('reads an empty listing, with and without a total', async () => {
    expect((await list(() => ({ resources: null }))).listing).toMatchObject({
      complete: true,
      pages: 1,
      reportedTotal: undefined,
    });
    expect((await list(() => ({ resources: [], page: { total: 0 } }))).listing).toMatchObject({
      complete: true,
      pages: 1,
      reportedTotal: 0,
    });
  });

  it.each([
    [0, [0]],
    [1, [0, 1]],
    [7, [0, 6, 7]],
    [10, [0, 9, 10]],
    [15, [0, 9, 14, 15]],
    [20, [0, 9, 18, 20]],
    [25, [0, 9, 18, 24, 25]],
    [28, [0, 9, 18, 27, 28]],
  ])(
    'requests each page of %i records from the last record of the page before when there is no total',
    async (count, offsets) => {
      const { listing, requests } = await list(service(ids(count).map(record), { total: noTotal }));
      expect(idsOf(listing)).toEqual(ids(count));
      expect(listing).toMatchObject({ complete: true, reportedTotal: undefined, pages: offsets.length, duplicates: 0 });
      expect(requests.map(({ offset }) => offset)).toEqual(offsets);
    },
  );

  it('is incomplete after a second pass when an id is listed twice and there is no total', async () => {
    const all = ['A', 'B', 'A', 'B', 'C', 'D'].map(record);
    const { listing, requests } = await list(service(all, { total: noTotal }), { pageSize: 3 });
    expect(idsOf(listing)).toEqual(['A', 'B', 'C', 'D']);
    expect(listing).toMatchObject({ complete: false, duplicates: 2, pages: requests.length });
    expect(listing.incompleteReasons).toEqual([
      'an id was listed twice, and the service reports no total: rows may have moved',
    ]);
    expect(requests.filter(({ offset }) => offset === 0)).toHaveLength(2);
  });

  it('lists once more when an id is listed twice, and is complete when it then is not', async () => {
    const moved = ['a', 'b', 'c', 'a', 'd'].map(record);
    const all = ['a', 'b', 'c', 'd', 'e'].map(record);
    let passes = 0;
    const { listing } = await list(
      (request) => {
        passes += request.offset === 0 ? 1 : 0;
        return service(passes === 1 ? moved : all, { total: noTotal })(request);
      },
      { pageSize: 3 },
    );
    expect(idsOf(listing)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(listing).toMatchObject({ complete: true, duplicates: 0 });
  });

  it('takes a total of 0 beside records for no total', async () => {
    const { listing, requests } = await list(service(rows(25), { total: () => 0 }));
    expect(idsOf(listing)).toEqual(ids(25));
    expect(listing).toMatchObject({ complete: true, reportedTotal: undefined });
    expect(requests).toHaveLength(5);
  });

  it('advances by the records received when pages are capped', async () => {
    const withTotal = await list(service(rows(25), { cap: () => 4 }));
    expect(idsOf(withTotal.listing)).toEqual(ids(25));
    expect(withTotal.listing).toMatchObject({ complete: true, pages: 7, duplicates: 0 });
    const without = await list(service(rows(25), { cap: () => 4, total: noTotal }));
    expect(without.requests.map(({ offset }) => offset)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 25]);
    expect(without.listing).toMatchObject({ complete: true, duplicates: 0 });
  });

  it('does not assume that all pages are as short as one short page', async () => {
    const { listing, requests } = await list(service(rows(250), { cap: ({ nth }) => (nth === 0 ? 1 : 100) }), {
      pageSize: 100,
    });
    expect(idsOf(listing)).toEqual(ids(250));
    expect(listing).toMatchObject({ complete: true, duplicates: 0 });
    expect(requests.map(({ offset, size }) => [offset, size])).toEqual([
      [0, 100],
      [1, 100],
      [101, 100],
      [201, 100],
    ]);
  });

  it('detects an ignored offset by the lack of new ids', async () => {
    const capped = await list(service(rows(300), { total: noTotal, ignoreOffset: true, cap: () => 7 }));
    expect(idsOf(capped.listing)).toEqual(ids(7));
    expect(capped.listing).toMatchObject({ complete: false, pages: 5, duplicates: 7 });
    const withTotal = await list(service(rows(1000), { ignoreOffset: true }));
    expect(idsOf(withTotal.listing)).toEqual(ids(10));
    expect(withTotal.listing).toMatchObject({ complete: false, reportedTotal: 1000 });
    expect(withTotal.requests.length).toBeLessThan(20);
  });

  it('continues past single pages of duplicates', async () => {
    const all = ids(40).map((id, index) => record([6, 7, 12, 13, 18, 19, 24, 25].includes(index) ? 'r0' : id));
    const { listing } = await list(service(all, { cap: () => 2 }), { concurrency: 1 });
    expect(new Set(idsOf(listing))).toEqual(new Set(all.map(({ resource_id }) => resource_id)));
    expect(listing).toMatchObject({ complete: false, reportedTotal: 40, duplicates: 8 });
  });

  it('is incomplete when a service that ignores the offset repeats records without an id', async () => {
    const all = Array.from({ length: 20 }, (_, index) => ({ name: `record ${index}` }));
    const { listing } = await list(service(all, { ignoreOffset: true }));
    expect(listing).toMatchObject({ complete: false, reportedTotal: 20, rejected: 10 });
  });

  it('is incomplete when a service that counts offsets from one repeats a record without an id', async () => {
    const all = ids(20).map((id, index) => (index === 9 ? { name: 'without an id' } : record(id)));
    const honest = service(all);
    const { listing } = await list((request) => honest({ ...request, offset: Math.max(0, request.offset - 1) }));
    expect(listing).toMatchObject({ complete: false, reportedTotal: 20 });
  });

  it.each([
    ['one', ['a', null, null, 'b'], 3],
    ['several', ['a', null, null, null, null, 'b', 'c', null, null, 'd'], 6],
    ['the first', [null, null, 'a', 'b'], 2],
  ])('is complete when equal records without an id are on both sides of %s page border', async (_, all, pages) => {
    const records = all.map((id) => id && record(id));
    const { listing } = await list(service(records), { pageSize: 2 });
    expect(listing).toMatchObject({ complete: true, rejected: all.filter((id) => id === null).length, pages });
  });

  it.each([
    ['are cut at the same byte', ids(50).map((id) => 'y'.repeat(1024) + id)],
    ['are cut to another id', ['y'.repeat(1024), `${'y'.repeat(1024)}2`]],
    ['differ in lone surrogates', ['x\ud800', 'x\udc00', 'x\ufffd']],
  ])('is incomplete when ids %s and become one label value', async (_, all) => {
    for (const total of [undefined, all.length]) {
      const { listing, requests } = await list(service(all.map(record), { total: () => total }), { pageSize: 60 });
      expect(listing).toMatchObject({ complete: false, size: 1, duplicates: all.length - 1, reportedTotal: total });
      expect(listing.incompleteReasons.at(-1)).toBe(
        `${all.length - 1} resources are left out because their ids have the same label values as others: ids are truncated to 1,024 bytes, and invalid characters are replaced`,
      );
      if (total !== undefined) expect([listing.incompleteReasons.length, requests.length]).toEqual([1, 1]);
    }
  });

  it('is incomplete when ids that are not valid UTF-8 become one label value', async () => {
    const rows = ['\xfe', '\xff'].map((byte) => `{"resource_id":"a${byte}"}`);
    for (const total of ['null', '2', '1']) {
      const body = Buffer.from(`{"resources":[${rows.join()}],"page":{"total":${total}}}`, 'latin1');
      const options = {
        baseUrl: new URL('http://service.test'),
        listStyle: 'repeat',
        pageSize: 1,
        concurrency: 1,
      } as const;
      const source = stationSource(async (_path, _context, read) => read(body), options, new TaskQueue());
      const listing = await source.listResources(query, listingContext());
      expect(listing).toMatchObject({ complete: false, size: 1 });
      expect(listing.incompleteReasons.at(-1)).toContain('1 resources are left out');
    }
  });

  it('does not take ids with one label value for the same record at a page border', async () => {
    const all = [...ids(9), ...['1', '2', '3'].map((end) => 'y'.repeat(1024) + end)].map(record);
    const shifted = await list((request) =>
      service(request.nth === 0 ? all : all.slice(1), { total: noTotal })(request),
    );
    expect(shifted.requests.slice(0, 3).map(({ offset }) => offset)).toEqual([0, 9, 0]);
  });

  it('reads everything at once from a service that ignores paging', async () => {
    const all = rows(35);
    expect((await list(() => ({ resources: all, page: { total: '35' } }))).listing).toMatchObject({
      complete: true,
      pages: 1,
    });
    expect((await list(() => ({ resources: all, page: null }))).listing).toMatchObject({
      complete: true,
      pages: 2,
      duplicates: 35,
    });
  });

  it('lists once more when the total changes, and is complete when it then stays the same', async () => {
    const all = rows(25);
    const { listing } = await list(service(all, { total: ({ nth }) => (nth === 1 ? 26 : 25) }));
    expect(idsOf(listing)).toEqual(ids(25));
    expect(listing).toMatchObject({ complete: true, reportedTotal: 25, pages: 7 });
  });

  it.each([24, 26, 1, 1_000_000_000])('is incomplete for 25 records with a total of %i', async (total) => {
    const { listing, requests } = await list(service(rows(25), { total: () => total }), { pageSize: 10 });
    expect(listing).toMatchObject({ complete: false, reportedTotal: total });
    expect(requests.length).toBeLessThan(20);
    if (total > 25 || total < 10) expect(idsOf(listing)).toEqual(ids(25));
  });

  it('counts duplicates, keeps the first and is incomplete', async () => {
    const all = [...rows(12), { ...record('r3'), name: 'another' }];
    const { listing } = await list(service(all));
    expect(idsOf(listing)).toEqual(ids(12));
    expect(listing.parts.flat().find(({ id }) => id === 'r3')?.name).toBe('name of r3');
    expect(listing).toMatchObject({ complete: false, duplicates: 1, reportedTotal: 13 });
  });

  it('removes the duplicates of each page in a task of its own', async () => {
    let tasks = 0;
    class CountedTasks extends TaskQueue {
      override run<T>(task: () => T): Promise<T> {
        tasks += 1;
        return super.run(task);
      }
    }
    const tasksFor = async (all: readonly unknown[]) => {
      tasks = 0;
      const { requests } = await list(service(all, { total: () => undefined, cap: () => 10 }), {
        tasks: new CountedTasks(),
      });
      return tasks / requests.length;
    };
    const distinct = await tasksFor(rows(200));
    expect(await tasksFor([...ids(199), 'r3'].map(record))).toBeGreaterThan(distinct + 0.5);
  });

  it('counts a first record that is nested too deep to be identified', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const { listing } = await list(() => `{"resources":[${deep},{"resource_id":"a"}],"page":{"total":2}}`);
    expect(listing).toMatchObject({ complete: true, size: 1, rejected: 1, reportedTotal: 2 });
  });

  it('counts a rejected record once when its page is repeated', async () => {
    const all = [record('a'), null, record('b')];
    const { listing } = await list(service(all, { total: noTotal, ignoreOffset: true }));
    expect(listing).toMatchObject({ complete: false, rejected: 1, duplicates: 2 });
  });

  it('reads past a page without a valid id, with and without a total', async () => {
    const all = [...rows(10), ...Array<null>(10).fill(null), record('last')];
    const { listing } = await list(service(all, { total: noTotal }));
    expect(idsOf(listing)).toEqual([...ids(10), 'last']);
    expect(listing).toMatchObject({ complete: true, rejected: 10, duplicates: 0 });
    expect((await list(service(all))).listing).toMatchObject({ complete: true, rejected: 10, reportedTotal: 21 });
  });

  it('lists once more when a page does not begin with the last record of the page before', async () => {
    const all = rows(25);
    const removed = await list((request) =>
      service(request.nth === 0 ? all : all.slice(1), { total: noTotal })(request),
    );
    expect(idsOf(removed.listing)).toEqual(ids(25).slice(1));
    expect(removed.listing).toMatchObject({ complete: true, duplicates: 0, pages: 7 });
    expect(removed.requests.map(({ offset }) => offset)).toEqual([0, 9, 0, 9, 18, 23, 24]);
  });

  it('is incomplete, but lists everything it can, when pages do not overlap the second time either', async () => {
    const aligned = service(rows(25), { total: noTotal });
    const { listing, requests } = await list((request) =>
      aligned({ ...request, offset: request.offset - (request.offset % 10) }),
    );
    expect(idsOf(listing)).toEqual(ids(25));
    expect(listing).toMatchObject({ complete: false, duplicates: 5 });
    expect(requests.map(({ offset }) => offset)).toEqual([0, 9, 0, 9, 10, 20, 25]);
  });

  it('counts invalid fields of the records it keeps, and invalid totals', async () => {
    const all = [
      { ...record('a'), state: {}, sku: 5 },
      { ...record('b'), state: [] },
      { ...record('a'), state: {} },
    ];
    const { listing } = await list(service(all, { total: () => 'many' }));
    expect(listing.invalidFields).toEqual({
      ...{
        resource_type: 0,
        create_time: 0,
        sku: 1,
        state: 2,
        display_name: 0,
        alert_rules_count: 0,
        name: 0,
        gpu_model: 0,
      },
      'page.total': 3,
    });
  });

  it('locates the record of every resource, whatever the other records are', async () => {
    const oddity = fc.constantFrom('good', 'repeated', 'nameless', 'invalid');
    const sizes = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(oddity, { maxLength: 60 }), sizes, fc.boolean(), async (kinds, pageSize, hasTotal) => {
        const all = kinds.map((kind, index) => {
          if (kind === 'nameless') return { name: 'x' };
          return {
            ...record(kind === 'repeated' ? 'r0' : `r${index}`),
            name: `record ${index}`,
            ...(kind === 'invalid' && { state: [] }),
          };
        });
        const { listing } = await list(service(all, hasTotal ? {} : { total: noTotal }), { pageSize });
        expect(listing.locations).toHaveLength(listing.parts.length);
        for (const [at, { offset, positions, invalid }] of listing.locations.entries()) {
          for (const [index, resource] of (listing.parts[at] ?? []).entries()) {
            const place = offset + (positions?.[index] ?? index);
            expect(resource.name).toBe(`record ${place}`);
            expect(invalid.get(index)).toEqual(kinds[place] === 'invalid' ? ['state'] : undefined);
          }
        }
      }),
    );
  });

  it.each<[string, Parameters<typeof list>[0], string[]]>([
    ['nothing', service(rows(25)), []],
    ['nothing without a total', service(rows(25), { total: noTotal }), []],
    [
      'a total that moves',
      service(rows(25), { total: ({ offset }) => 25 + (offset === 10 ? 1 : 0) }),
      ['the total changed between pages: from 25 to 26'],
    ],
    [
      'records that are missing',
      service(rows(25), { total: () => 30 }),
      ['the service reports a total of 30, but returned 25 distinct records'],
    ],
    [
      'a page that comes again',
      service(rows(30), { total: noTotal, ignoreOffset: true }),
      [
        'a page did not begin with the last record of the page before: the service ignores the offset, counts it differently, or rows moved',
      ],
    ],
    [
      'a record at a time',
      service(rows(3), { total: noTotal, cap: () => 1 }),
      ['the service reports no total and returns single records, so that pages cannot overlap'],
    ],
  ])('reports why %s is incomplete', async (_what, answer, reasons) => {
    const { listing } = await list(answer);
    expect(listing.incompleteReasons).toEqual(reasons);
    expect(listing.complete).toBe(reasons.length === 0);
  });

  it.each([
    ['with a total', {}, 15, 5],
    ['without a total', { total: noTotal }, 14, 4],
  ])('parses a page %s again only when its bytes change', async (_, quirks, changed, position) => {
    const all = ids(28).map((id) => ({ ...record(id), state: 'I' }));
    const { source } = sourceOf(service(all, quirks));
    const context = listingContext();
    const first = await source.listResources(query, context);
    const second = await source.listResources(query, context);
    expect(second.parts.map((part, index) => part === first.parts[index])).toEqual([true, true, true]);
    all[changed] = { ...record(`r${changed}`), state: 'F' };
    const third = await source.listResources(query, context);
    expect(third.parts.map((part, index) => part === first.parts[index])).toEqual([true, false, true]);
    expect(third.parts[1]?.[position]).toMatchObject({ id: `r${changed}`, state: 'F' });
    const listed = await source.listIds(query, context);
    expect(listed.parts.flat()).toEqual(ids(28));
    expect((await source.listIds(query, context)).parts[0]).toBe(listed.parts[0]);
  });

  it('splits the page of a service that ignores the size, the same way each time', async () => {
    const all = ids(20_500).map((id, index) => (index === 1500 ? {} : record(id)));
    const body = JSON.stringify({ resources: all, page: { total: all.length } });
    const { source } = sourceOf(() => body);
    const listing = await source.listResources(query, listingContext());
    expect(listing).toMatchObject({ complete: true, size: 20_499, rejected: 1, pages: 1 });
    expect(listing.parts.map((part) => part.length)).toEqual([...Array(20).fill(1000), 499]);
    expect(
      listing.locations.map(({ offset, positions }) => [offset, positions?.[0], positions?.at(-1)]).slice(0, 3),
    ).toEqual([
      [0, 0, 999],
      [0, 1000, 2000],
      [0, 2001, 3000],
    ]);
    const again = await source.listResources(query, listingContext());
    expect(again.parts.every((part, index) => part === listing.parts[index])).toBe(true);
  });

  it('notices a change of one byte anywhere in a page', async () => {
    let body = JSON.stringify({ resources: rows(30_000), page: { total: 30_000 } });
    expect(body.length).toBeGreaterThan(1024 * 1024);
    const { source } = sourceOf(() => body);
    await source.listResources(query, listingContext());
    for (const index of [0, 15_000, 29_999]) {
      body = body.replace(`name of r${index}"`, `Xame of r${index}"`);
      const next = await source.listResources(query, listingContext());
      expect(next.parts.flat()[index]).toMatchObject({ id: `r${index}`, name: `Xame of r${index}` });
    }
  });

  it.each([
    ['a total', () => 10],
    ['no total', noTotal],
  ])('never uses a page of a failed refresh again, with %s', async (_, total) => {
    let names = ids(10);
    let fails = true;
    const { source, requests } = sourceOf(
      (request) => {
        if (fails && request.offset >= 5) throw new ListingFailure('status', 'no such page');
        return service(names.map(record), { total })(request);
      },
      { pageSize: 2, concurrency: 1 },
    );
    await expect(source.listResources(query, listingContext())).rejects.toMatchObject({ reason: 'status' });
    const received = requests.length - 1;
    expect(received).toBeGreaterThan(2);
    names = names.map((id) => (id === 'r2' || id === 'r3' ? `new ${id}` : id));
    fails = false;
    requests.length = 0;
    const listing = await source.listResources(query, listingContext());
    expect(idsOf(listing)).toEqual(names);
    expect(listing).toMatchObject({ complete: true, pages: requests.length });
    expect(new Set(requests.map(({ offset }) => offset)).size).toBe(requests.length);
    expect(requests.length).toBeGreaterThan(received);
  });

  describe('with a limit on records', () => {
    /** The records held by a station whose refreshes end as those of the exporter do. */
    function limited(perStation: number, answer: (request: PageRequest) => Reply) {
      const records = new RecordBudget({ records: 1_000_000, records_per_station: perStation });
      const failures: string[] = [];
      const observer = { readFailed: (reason: string) => failures.push(reason) };
      const { source, requests } = sourceOf(answer, { records, observer, concurrency: 2 });
      const refresh = async (list: 'listResources' | 'listIds' = 'listResources') => {
        const end = new AbortController();
        try {
          return await source[list](query, listingContext({ signal: end.signal }));
        } finally {
          end.abort();
        }
      };
      return { records, refresh, failures, requests };
    }

    const endless = ({ offset, size }: PageRequest): Reply => ({
      resources: ids(offset + size)
        .slice(offset)
        .map(record),
    });

    it('ends a listing without end, and holds nothing of it', async () => {
      const { records, refresh, failures, requests } = limited(100, endless);
      await expect(refresh()).rejects.toMatchObject({
        reason: 'body',
        message: expect.stringContaining('limits.records_per_station'),
      });
      expect(requests).toHaveLength(11);
      expect(records.total).toBe(0);
      expect(failures).toEqual([]);
    });

    it('counts every row of a listing once, whether its page was cached or not', async () => {
      const { records, refresh } = limited(25, service(rows(25)));
      await refresh();
      expect(records.total).toBe(25);
      await refresh();
      expect(records.total).toBe(25);
    });

    it('counts three ids of a further listing as one record', async () => {
      const { records, refresh } = limited(10, service(rows(24)));
      await refresh('listIds');
      expect(records.total).toBe(4 + 4 + 2);
    });

    it('counts the records of a second pass only', async () => {
      const aligned = service(rows(40), { total: noTotal });
      const { records, refresh } = limited(100, (request) =>
        aligned({ ...request, offset: request.offset - (request.offset % 10) }),
      );
      expect(await refresh()).toMatchObject({ complete: false, size: 40 });
      // Four pages of ten, the one that did not overlap, and the empty one.
      expect(records.total).toBe(4 * 10 + 10 + 1);
    });

    it('counts a record with long texts several times, and an empty page as one', async () => {
      const long = { ...record('a'), state: 's'.repeat(1000), display_name: 'd'.repeat(1000), sku: 'x'.repeat(1000) };
      const { records, refresh } = limited(10, service([long]));
      await refresh();
      expect(records.total).toBe(6);
      const empty = limited(10, service([]));
      await empty.refresh();
      expect(empty.records.total).toBe(1);
    });
  });

  it('reports a complete reply that is not a page, and a refresh that times out while one is read', async () => {
    const failures: string[] = [];
    const observer = { readFailed: (reason: string) => failures.push(reason) };
    const unreadable = sourceOf(() => '<html>', { observer }).source;
    await expect(unreadable.listResources(query, listingContext())).rejects.toMatchObject({ reason: 'body' });
    expect(failures).toEqual(['body']);
    const end = new AbortController();
    const slow = sourceOf(
      (request) => {
        end.abort(new ListingFailure('timeout', 'the refresh did not finish'));
        return service(rows(10))(request);
      },
      { observer },
    ).source;
    const listing = slow.listResources(query, listingContext({ signal: end.signal }));
    await expect(listing).rejects.toMatchObject({ reason: 'timeout' });
    expect(failures).toEqual(['body', 'timeout']);
  });

  it('requests no more pages at once than the concurrency limit', async () => {
    let underWay = 0;
    let most = 0;
    const answer = service(rows(300));
    const get = async <T>(path: string, _context: unknown, read: (body: Uint8Array) => T | Promise<T>) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      const offset = Number(new URLSearchParams(path.slice(path.indexOf('?'))).get('page.offset'));
      return read(Buffer.from(JSON.stringify(answer({ offset, size: 10, nth: 0 }))));
    };
    const options = {
      baseUrl: new URL('http://service.test'),
      listStyle: 'repeat',
      pageSize: 10,
      concurrency: 7,
    } as const;
    await stationSource(get, options, new TaskQueue()).listResources(query, listingContext());
    expect(most).toBe(7);
  });

  it('returns exactly the resources of any listing with any page cap', async () => {
    const caps = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 });
    const unique = fc.uniqueArray(fc.string({ minLength: 1, unit: codePoint }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        unique,
        caps,
        fc.boolean(),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 15 }),
        async (names, sizes, total, concurrency, pageSize) => {
          const cap = ({ nth }: PageRequest) => sizes[nth % sizes.length] ?? 1;
          const answer = service(names.map(record), { cap, ...(total ? {} : { total: noTotal }) });
          const { listing } = await list(answer, { concurrency, pageSize });
          expect(idsOf(listing)).toEqual(names);
          expect(listing).toMatchObject({ duplicates: 0, rejected: 0 });
          // Without a total, single records cannot overlap.
          if (total || Math.min(pageSize, ...sizes) > 1) expect(listing.complete).toBe(true);
        },
      ),
    );
  });

  it('is complete only when the records add up, whatever the totals and duplicates', async () => {
    const world = fc.record({
      rows: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }),
      totals: fc.array(fc.integer({ min: 0, max: 45 }), { minLength: 1, maxLength: 3 }),
      cap: fc.integer({ min: 1, max: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(world, async ({ rows, totals, cap }) => {
        const given: number[] = [];
        const total = ({ nth }: PageRequest) => {
          given[nth] = totals[nth % totals.length] ?? 0;
          return given[nth];
        };
        const { listing } = await list(
          service(
            rows.map((row) => record(`r${row}`)),
            { cap: () => cap, total },
          ),
        );
        expect(new Set(rows.map((row) => `r${row}`))).toEqual(
          new Set([...rows.map((row) => `r${row}`), ...idsOf(listing)]),
        );
        if (!listing.complete) return;
        expect(listing.reportedTotal).toBe(given.findLast((one) => one > 0 || rows.length === 0));
        expect(listing.size).toBe(listing.reportedTotal ?? new Set(rows).size);
      }),
    );
  });
});

describe('stationSource page size', () => {
  /** A service that accepts pages up to a size, which may change between requests. */
  function setUp(answer: (request: PageRequest) => Reply, largest: (nth: number) => number, setting: Setting = {}) {
    const reductions: [station: string | undefined, size: number][] = [];
    const pageSizeReduced = ({ station }: { station?: string }, size: number) => reductions.push([station, size]);
    const { source, requests } = sourceOf(answer, {
      pageSize: 100,
      ...setting,
      observer: { pageSizeReduced },
      largest,
    });
    return { requests, reductions, list: source.listResources };
  }

  it('continues from the same offset with half the page size, without gaps or duplicates', async () => {
    const { list, requests, reductions } = setUp(service(rows(120)), () => 30);
    const listing = await list(query, listingContext());
    expect(idsOf(listing)).toEqual(ids(120));
    expect(listing).toMatchObject({ complete: true, duplicates: 0, pages: 5 });
    expect(requests.slice(0, 4).map(({ offset, size }) => [offset, size])).toEqual([
      [0, 100],
      [0, 50],
      [0, 25],
      [25, 25],
    ]);
    expect(reductions).toEqual([
      ['prod', 50],
      ['prod', 25],
    ]);
  });

  it('divides the ranges that were planned for the larger page size', async () => {
    const { list, requests, reductions } = setUp(service(rows(1000)), (nth) => (nth === 0 ? 100 : 50));
    const listing = await list(query, listingContext());
    expect(idsOf(listing)).toEqual(ids(1000));
    expect(listing).toMatchObject({ complete: true, duplicates: 0, pages: 19 });
    expect(requests.filter(({ size }) => size > 50)).toHaveLength(5);
    expect(reductions).toEqual([['prod', 50]]);
  });

  it('keeps the page size for all listings of the refresh, and resets it with the next', async () => {
    const { list, requests, reductions } = setUp(service(rows(60)), () => 50);
    const refresh = listingContext();
    await list(query, refresh);
    await list({ path, filters: { product: 'product.x' } }, refresh);
    expect(requests.map(({ size }) => size)).toEqual([100, 50, 50, 50, 50]);
    await list(query, listingContext());
    expect(requests.slice(5).map(({ size }) => size)).toEqual([100, 50, 50]);
    expect(reductions).toHaveLength(2);
  });

  it('fails when a page of ten is too large', async () => {
    const { list, requests } = setUp(service(rows(60)), () => 9);
    await expect(list(query, listingContext())).rejects.toMatchObject({ message: 'too large' });
    expect(requests.map(({ size }) => size)).toEqual([100, 50, 25, 12, 10]);
  });

  it('returns exactly the resources of any listing, whatever page sizes are too large', async () => {
    const largest = fc.array(fc.integer({ min: 10, max: 120 }), { minLength: 1, maxLength: 8 });
    const paging = fc.record({
      pageSize: fc.integer({ min: 2, max: 120 }),
      concurrency: fc.integer({ min: 1, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(400), largest, fc.boolean(), paging, async (count, sizes, hasTotal, options) => {
        const answer = service(ids(count).map(record), hasTotal ? {} : { total: noTotal });
        const { list } = setUp(answer, (nth) => sizes[nth % sizes.length] ?? 10, options);
        const listing = await list(query, listingContext());
        expect(idsOf(listing)).toEqual(ids(count));
        expect(listing).toMatchObject({ complete: true, duplicates: 0, rejected: 0 });
      }),
    );
  });
});

describe('stationSource path', () => {
  const pathOf = async (filters: ListingFilters, listStyle: 'repeat' | 'comma' = 'repeat') => {
    let seen = '';
    const get = async <T>(path: string, _context: unknown, read: (body: Uint8Array) => T | Promise<T>) => {
      seen = path;
      return read(Buffer.from('{"resources":[]}'));
    };
    const path = { subscription: 'sub/1', resourceGroup: 'a b', zone: 'z?#', telemetryStation: 'ts-é' };
    const options = { baseUrl: new URL('http://service.test'), listStyle, pageSize: 10, concurrency: 1 };
    await stationSource(get, options, new TaskQueue()).listResources({ path, filters }, listingContext());
    return seen;
  };
  const prefix =
    '/monitor/ts/data/v1/subscriptions/sub%2F1/resourceGroups/a%20b/zones/z%3F%23/telemetryStations/ts-%C3%A9/resources';

  it('sends no empty list', async () => {
    expect(await pathOf({ resourceIds: [], resourceTypes: [] }, 'comma')).toBe(`${prefix}?page.offset=0&page.size=10`);
  });

  it('encodes a lone surrogate in a filter', async () => {
    expect(await pathOf({ product: '\ud800' })).toContain('product=%EF%BF%BD&');
  });
});
