import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing as ListingOf, QueryFilters } from '../../src/model/listing.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { RecordBudget } from '../../src/stations/record-budget.ts';
import { codePoint } from '../code-point.ts';
import { listingContext } from './support/context.ts';
import { type Answer, type PageRequest, type Reply, type Setting, sourceOf } from './support/listing-source.ts';

type Listing = ListingOf<Resource>;

const record = (id: string) => ({ resource_id: id, name: `name of ${id}` });
const ids = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
const rows = (count: number) => ids(count).map(record);

/** The listing, its ids and the offsets of its requests. */
async function list(answer: Answer, setting: Setting = {}) {
  const { list: read, requests } = sourceOf(answer, setting);
  const listing = await read({}, listingContext());
  return { ...listing, ids: idsOf(listing), offsets: requests.map(({ offset }) => offset) };
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

/** A service whose first record is removed after the first reply. */
const shifting =
  (all: readonly unknown[]): Answer =>
  (request) =>
    service(request.nth === 0 ? all : all.slice(1), { total: noTotal })(request);

/** A service that begins every page at a multiple of ten. */
const aligned = (all: readonly unknown[]) => (request: PageRequest) =>
  service(all, { total: noTotal })({ ...request, offset: request.offset - (request.offset % 10) });

const withoutIds = (...places: number[]) =>
  rows(20).map((row, at) => (places.includes(at) ? { resource_id: '' } : row));
const withDuplicates = ids(40).map((id, index) => ([6, 7, 12, 13, 18, 19, 24, 25].includes(index) ? 'r0' : id));
const NO_OVERLAP =
  'a page did not begin with the last record of the page before: the service ignores the offset, counts it differently, or rows moved';

type Expected = Partial<Awaited<ReturnType<typeof list>>>;

describe('stationSource', () => {
  it.each<[string, Answer, Expected, Setting?]>([
    [
      'reads a listing of several pages in the service’s order',
      service(rows(35)),
      {
        ids: ids(35),
        offsets: [0, 10, 20, 30],
        complete: true,
        incompleteReasons: [],
        reportedTotal: 35,
        pages: 4,
        duplicates: 0,
        rejected: 0,
      },
    ],
    [
      'is incomplete after a second pass when an id is listed twice and there is no total',
      service(['A', 'B', 'A', 'B', 'C', 'D'].map(record), { total: noTotal }),
      {
        ids: ['A', 'B', 'C', 'D'],
        offsets: [0, 2, 4, 5, 6, 0, 2, 4, 5, 6],
        complete: false,
        duplicates: 2,
        incompleteReasons: [
          { reason: 'paging', text: 'an id was listed twice, and the service reports no total: rows may have moved' },
        ],
      },
      { pageSize: 3 },
    ],
    [
      'does not assume that all pages are as short as one short page',
      service(rows(250), { cap: ({ nth }) => (nth === 0 ? 1 : 100) }),
      { ids: ids(250), offsets: [0, 1, 101, 201], complete: true, duplicates: 0 },
      { pageSize: 100 },
    ],
    [
      'detects an ignored offset by the lack of new ids',
      service(rows(300), { total: noTotal, ignoreOffset: true, cap: () => 7 }),
      {
        ids: ids(7),
        complete: false,
        pages: 5,
        duplicates: 7,
        incompleteReasons: [{ reason: 'paging', text: NO_OVERLAP }],
      },
    ],
    [
      'ends a listing with a total after three pages without new ids',
      service(rows(10), { total: () => 1000, ignoreOffset: true }),
      { complete: false, offsets: [0, 10, 20, 30, 0, 10, 20, 30] },
      { concurrency: 1 },
    ],
    [
      'continues past single pages of duplicates',
      service(withDuplicates.map(record), { cap: () => 2 }),
      { ids: [...new Set(withDuplicates)], complete: false, reportedTotal: 40, duplicates: 8 },
      { concurrency: 1 },
    ],
    [
      'lists records without an id once, because they are no sign that rows moved',
      service(withoutIds(3, 12)),
      {
        addsUp: true,
        complete: false,
        size: 18,
        rejected: 2,
        pages: 2,
        incompleteReasons: [
          { reason: 'rejected_records', text: '2 records were rejected because they have no usable resource_id' },
        ],
      },
    ],
    [
      'reads everything at once from a service that ignores paging',
      () => ({ resources: rows(35), page: { total: '35' } }),
      { complete: true, pages: 1 },
    ],
    [
      'reads everything at once from a service that ignores paging and reports no total',
      () => ({ resources: rows(35), page: null }),
      { complete: true, pages: 2, duplicates: 35 },
    ],
    [
      'lists once more when the total changes, and is complete when it then stays the same',
      service(rows(25), { total: ({ nth }) => (nth === 1 ? 26 : 25) }),
      { ids: ids(25), complete: true, reportedTotal: 25, pages: 7 },
    ],
    [
      'is incomplete when the total changes each time',
      service(rows(25), { total: ({ offset }) => (offset === 0 ? 25 : 26) }),
      {
        complete: false,
        reportedTotal: 26,
        incompleteReasons: [{ reason: 'total_mismatch', text: 'the total changed between pages: from 25 to 26' }],
      },
    ],
    [
      'is incomplete when records are missing',
      service(rows(25), { total: () => 30 }),
      {
        ids: ids(25),
        complete: false,
        incompleteReasons: [
          { reason: 'total_mismatch', text: 'the service reports a total of 30, but returned 25 distinct records' },
        ],
      },
    ],
    [
      'reads the total from a later page when the first one has none',
      service(rows(25), { total: ({ nth }) => (nth === 0 ? undefined : 25) }),
      { ids: ids(25), complete: true, reportedTotal: 25, duplicates: 0 },
    ],
    [
      'is complete beside duplicates that the total does not count',
      service([...rows(25), record('r3')], { total: () => 25 }),
      { ids: ids(25), complete: true, reportedTotal: 25, duplicates: 1 },
    ],
    [
      'is incomplete when pages are single records and the total is 0',
      service(rows(3), { total: () => 0, cap: () => 1 }),
      {
        complete: false,
        incompleteReasons: [
          {
            reason: 'paging',
            text: 'the service reports no total and returns single records, so that pages cannot overlap',
          },
        ],
      },
    ],
    [
      'counts a rejected record once when its page is repeated',
      service([record('a'), null, record('b')], { total: noTotal, ignoreOffset: true }),
      { addsUp: false, rejected: 1, duplicates: 2 },
    ],
    [
      'lists once more when a page does not begin with the last record of the page before',
      shifting(rows(25)),
      { ids: ids(25).slice(1), offsets: [0, 9, 0, 9, 18, 23, 24], complete: true, duplicates: 0 },
    ],
    [
      'is incomplete, but lists everything it can, when pages do not overlap the second time either',
      aligned(rows(25)),
      { ids: ids(25), offsets: [0, 9, 0, 9, 10, 20, 25], complete: false, duplicates: 5 },
    ],
    [
      'lists once more when an id is listed twice, and is complete when it then is not',
      (request) => service([...(request.nth < 4 ? 'abcad' : 'abcde')].map(record), { total: noTotal })(request),
      { ids: [...'abcde'], offsets: [0, 2, 4, 5, 0, 2, 4, 5], complete: true, duplicates: 0 },
      { pageSize: 3 },
    ],
    [
      'lists once more when a page was cut to one record',
      service(rows(25), { total: noTotal, cap: ({ nth }) => (nth === 1 ? 1 : 10) }),
      { ids: ids(25), offsets: [0, 9, 10, 0, 9, 18, 24, 25], complete: true, incompleteReasons: [] },
    ],
    [
      'lists without a total that is below the number of records of the first page',
      service(rows(25), { total: () => 1 }),
      { ids: ids(25), offsets: [0, 9, 18, 24, 25, 0, 9, 18, 24, 25], complete: false, reportedTotal: 1 },
    ],
    [
      'ends when the page after a short one is empty, although the total is larger',
      (request) => service(request.offset === 0 ? rows(3) : [], { total: () => 10 })(request),
      { ids: ids(3), offsets: [0, 3, 0, 3], complete: false, reportedTotal: 10 },
    ],
    [
      'asks for no page after an empty one, although the total is larger',
      service(rows(20), { total: () => 1000 }),
      { ids: ids(20), offsets: [0, 10, 20, 0, 10, 20] },
      { concurrency: 1 },
    ],
  ])('%s', async (_what, answer, expected, setting) => {
    const listing = await list(answer, setting);
    expect(listing).toMatchObject(expected);
    expect(listing.offsets.length).toBeLessThan(50);
  });

  it.each([
    [0, [0]],
    [1, [0, 1]],
    [10, [0, 9, 10]],
    [20, [0, 9, 18, 19, 20]],
    [25, [0, 9, 18, 24, 25]],
    [28, [0, 9, 18, 27, 28]],
  ])(
    'requests each page of %i records from the last record of the page before when there is no total',
    async (count, offsets) => {
      expect(await list(service(rows(count), { total: noTotal }))).toMatchObject({
        ids: ids(count),
        offsets,
        complete: true,
        incompleteReasons: [],
        reportedTotal: undefined,
        pages: offsets.length,
        duplicates: 0,
      });
    },
  );

  it.each([
    { where: 'from the first page on', all: [null, null, null, null, 'a'], pages: 2 },
    { where: 'on equal pages', all: [null, null, null, null, null, null, null, 'a'], pages: 3 },
    {
      where: 'far apart on pages without a total',
      all: ['a', 'b', 'c', null, null, 'd', 'e', null, null, 'f', 'g', null, null, 'h'],
      total: noTotal,
    },
  ])('counts each of the equal records without an id that are $where', async ({ all, total, pages }) => {
    const records = all.map((id) => id && record(id));
    const rejected = all.filter((id) => id === null).length;
    const listing = await list(service(records, total && { total }), { pageSize: 3 });
    expect(listing).toMatchObject({ addsUp: true, complete: false, rejected, ...(pages && { pages }) });
  });

  /** A service whose second page is short, and which ignores the size of the page after it, so that pages overlap. */
  const overlapping =
    (all: readonly unknown[]): Answer =>
    (request) => {
      if (request.offset === 10) return service(all, { cap: () => 4 })(request);
      return service(all)({ ...request, size: 10 });
    };

  it.each([
    { rejects: 'equal ones beside each other', places: [21, 22], rejected: 2 },
    { rejects: 'equal ones inside and after', places: [20, 21, 24, 33], rejected: 4 },
    { rejects: 'all of it and of the page after it', places: [20, 21, 22, 23, 24, 25, 26, 27, 28, 29], rejected: 10 },
  ])('counts records without an id in an overlap of pages once: $rejects', async ({ places, rejected }) => {
    const all = rows(35).map((row, at) => (places.includes(at) ? { name: 'without an id' } : row));
    const listing = await list(overlapping(all), { concurrency: 1 });
    expect(listing.offsets).toEqual([0, 10, 14, 20, 30]);
    expect(listing).toMatchObject({ addsUp: true, rejected, size: 35 - rejected, reportedTotal: 35 });
    expect(listing.rejectedRecords.map(({ position }) => position)).toEqual(places);
  });

  it('lists the first rejected records with their positions, why they were rejected, and what could be read of them', async () => {
    const type = { key: 'type.a', label: 'A' };
    const all = [
      ...rows(9),
      { ...record('x'), resource_id: undefined, resource_type: type, display_name: 'eks\ud800' },
      { resource_id: '', name: 'n'.repeat(2000) },
      { resource_id: 5, name: {}, display_name: 7 },
      null,
      'r1',
      ...Array(30).fill({}),
    ];
    const expected = [
      {
        position: 9,
        rejection: 'no resource_id',
        texts: { name: 'name of x', display_name: 'eks\ufffd', resource_type: 'type.a' },
      },
      { position: 10, rejection: 'resource_id is empty', texts: { name: 'n'.repeat(1024) } },
      {
        position: 11,
        rejection: 'resource_id is not text',
        texts: { name: '', display_name: '', resource_type: '' },
      },
      { position: 12, rejection: 'not an object', texts: {} },
      { position: 13, rejection: 'not an object' },
      ...Array.from({ length: 15 }, (_, at) => ({ position: 14 + at, rejection: 'no resource_id' })),
    ];
    const { rejected, rejectedRecords } = await list(service(all));
    expect(rejected).toBe(35);
    expect(rejectedRecords).toMatchObject(expected);
  });

  it.each([
    ['are cut at the same byte', ['y'.repeat(1024), `${'y'.repeat(1024)}2`]],
    ['differ in lone surrogates', ['x\ud800', 'x\udc00', 'x\ufffd']],
  ])('is incomplete when ids %s and become one label value', async (_, all) => {
    for (const total of [undefined, all.length]) {
      const listing = await list(service(all.map(record), { total: () => total }), { pageSize: 60 });
      expect(listing).toMatchObject({ complete: false, size: 1, duplicates: all.length - 1, reportedTotal: total });
    }
  });

  it('counts duplicates, keeps the first and is incomplete', async () => {
    const all = [...rows(12), { ...record('r3'), name: 'another' }];
    const listing = await list(service(all));
    expect(listing).toMatchObject({ ids: ids(12), complete: false, duplicates: 1, reportedTotal: 13 });
    expect(listing.parts.flat()[3]?.name).toBe('name of r3');
  });

  it('counts invalid fields of the records it keeps, and invalid totals', async () => {
    const all = [
      { ...record('a'), state: {}, sku: 5 },
      { ...record('b'), state: [] },
      { ...record('a'), state: {} },
    ];
    const { invalidFields } = await list(service(all, { total: ({ nth }) => (nth > 3 ? 'many' : undefined) }));
    expect(invalidFields).toMatchObject({ sku: 1, state: 2, name: 0, 'page.total': 2 });
  });

  it.each([undefined, noTotal])(
    'knows the resources with invalid fields beside duplicates and rejected records',
    async (total) => {
      const invalid = (id: string) => ({ ...record(id), state: [] });
      const all = [record('a'), record('a'), null, invalid('b'), record('a'), invalid('c'), record('d')];
      const listing = await list(service(all, total && { total }), { pageSize: 4 });
      const known = listing.parts.flatMap((part, at) => part.filter((_, index) => listing.invalid[at]?.has(index)));
      expect(known.map(({ id }) => id)).toEqual(['b', 'c']);
    },
  );

  it.each([
    ['with a total', {}, 15, 5],
    ['without a total', { total: noTotal }, 14, 4],
  ])('unpacks and parses a page %s again only when its bytes change', async (_, quirks, changed, position) => {
    const all = ids(28).map((id) => ({ ...record(id), state: 'I' }));
    const source = sourceOf(service(all, quirks));
    const context = listingContext();
    const first = await source.list({}, context);
    const unpacked = source.unpacked.count;
    const second = await source.list({}, context);
    expect(source.unpacked.count).toBe(unpacked);
    expect(second.parts.map((part, index) => part === first.parts[index])).toEqual([true, true, true]);
    all[changed] = { ...record(`r${changed}`), state: 'F' };
    const third = await source.list({}, context);
    expect(source.unpacked.count).toBe(unpacked + 1);
    expect(third.parts.map((part, index) => part === first.parts[index])).toEqual([true, false, true]);
    expect(third.parts[1]?.[position]).toMatchObject({ id: `r${changed}`, state: 'F' });
    const listed = await source.listIds({}, context);
    expect(listed.parts.flat()).toEqual(ids(28));
    expect((await source.listIds({}, context)).parts[0]).toBe(listed.parts[0]);
  });

  it('never uses a page of a failed refresh again', async () => {
    let names = ids(10);
    let fails = true;
    const { requests, ...source } = sourceOf(
      (request) => {
        if (fails && request.offset >= 5) throw new ListingFailure('status', 'no such page');
        return service(names.map(record))(request);
      },
      { pageSize: 2, concurrency: 1 },
    );
    await expect(source.list({}, listingContext())).rejects.toMatchObject({ reason: 'status' });
    expect(requests.length).toBeGreaterThan(2);
    names = names.map((id) => (id === 'r2' || id === 'r3' ? `new ${id}` : id));
    fails = false;
    requests.length = 0;
    const listing = await source.list({}, listingContext());
    expect(idsOf(listing)).toEqual(names);
    expect(listing).toMatchObject({ complete: true, pages: 5 });
    expect(requests.map(({ offset }) => offset)).toEqual([0, 2, 4, 6, 8]);
  });

  describe('with a limit on records', () => {
    /** A station whose records are counted. */
    function limited(perStation: number, answer: (request: PageRequest) => Reply) {
      const records = new RecordBudget({ records: 1_000_000, records_per_station: perStation });
      const failures: string[] = [];
      const observer = { readFailed: (reason: string) => failures.push(reason) };
      const { requests, ...source } = sourceOf(answer, { records, observer, concurrency: 2 });
      const refresh = (list: 'list' | 'listIds' = 'list') => source[list]({}, listingContext());
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

    it.each<[string, number, (request: PageRequest) => Reply, 'listIds'?]>([
      ['three ids of a further listing as one record', 4 + 4 + 2, service(rows(24)), 'listIds'],
      // Four pages of ten, and the one that did not overlap.
      ['the records of a second pass only', 4 * 10 + 10, aligned(rows(40))],
    ])('counts %s, whether the pages were cached or not', async (_what, total, answer, kind) => {
      const { records, refresh } = limited(total, answer);
      await refresh(kind);
      expect(records.total).toBe(total);
      await refresh(kind);
      expect(records.total).toBe(total);
    });

    it('counts all listings of a station, also one that a refresh does not read', async () => {
      const answer = service(rows(15));
      const { records, refresh } = limited(21, answer);
      await refresh('listIds');
      await refresh();
      await refresh();
      expect(records.total).toBe(4 + 2 + 15);
      records.limits = { records: 100, records_per_station: 20 };
      await expect(refresh()).rejects.toMatchObject({ reason: 'body' });
      expect(records.total).toBe(21);
    });
  });

  it('reports a refresh that times out while a complete reply is read', async () => {
    const failures: string[] = [];
    const end = new AbortController();
    const source = sourceOf(
      (request) => {
        end.abort(new ListingFailure('timeout', 'the refresh did not finish'));
        return service(rows(10))(request);
      },
      { observer: { readFailed: (reason) => failures.push(reason) } },
    );
    const listing = source.list({}, listingContext({ signal: end.signal }));
    await expect(listing).rejects.toMatchObject({ reason: 'timeout' });
    expect(failures).toEqual(['timeout']);
  });

  it.each([0, 10, 20])('keeps nothing of a listing that is aborted after its page at %i', async (at) => {
    const end = new AbortController();
    const pageReceived = ({ offset }: { offset: number }) => offset === at && end.abort(new Error('aborted'));
    const source = sourceOf(service(rows(25)), { observer: { pageReceived } });
    await expect(source.list({}, listingContext({ signal: end.signal }))).rejects.toThrow('aborted');
  });

  it('requests no more pages at once than the concurrency limit', async () => {
    const { underWay, ...source } = sourceOf(service(rows(300)), { concurrency: 7 });
    await source.list({}, listingContext());
    expect(underWay.most).toBe(7);
  });
});

describe('stationSource page size', () => {
  /** A service that accepts pages up to a size, which may change between requests. */
  function setUp(answer: (request: PageRequest) => Reply, largest: (nth: number) => number, setting: Setting = {}) {
    const reductions: [station: string | undefined, size: number][] = [];
    const pageSizeReduced = ({ station }: { station?: string }, size: number) => reductions.push([station, size]);
    const { requests, ...source } = sourceOf(answer, {
      pageSize: 100,
      ...setting,
      observer: { pageSizeReduced },
      largest,
    });
    return { requests, reductions, list: source.list };
  }

  it('continues from the same offset with half the page size, without gaps or duplicates', async () => {
    const { list, requests, reductions } = setUp(service(rows(120)), () => 30);
    const listing = await list({}, listingContext());
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

  it('keeps the page size for all listings of the station and all further refreshes', async () => {
    const { list, requests, reductions } = setUp(service(rows(60)), () => 50);
    const refresh = listingContext();
    expect(await list({}, refresh)).toMatchObject({ reducedPageSize: 50 });
    await list({ product: 'product.x' }, refresh);
    await list({}, listingContext());
    expect(requests.map(({ size }) => size)).toEqual([100, 50, 50, 50, 50, 50, 50]);
    expect(reductions).toHaveLength(1);
  });

  describe('after repeated throttling', () => {
    /** The sizes of the requests of each refresh, in which the service accepts pages up to that size. */
    async function sizesOf(all: readonly unknown[], ...accepted: number[]) {
      let largest = 0;
      const { list, requests } = setUp(service(all), () => largest, { isTooLarge: false });
      const refreshes: number[][] = [];
      for (largest of accepted) {
        requests.length = 0;
        await list({}, listingContext());
        refreshes.push(requests.map(({ size }) => size));
      }
      return refreshes;
    }

    it('shows the size that was tried', async () => {
      const { list } = setUp(service(rows(60)), () => 50, { isTooLarge: false });
      expect(await list({}, listingContext())).toMatchObject({ reducedPageSize: 50 });
    });

    it('keeps the size that was tried, unless a larger page was accepted', async () => {
      expect(await sizesOf(rows(60), 50, 50, 25, 50)).toEqual([
        [100, 50, 50],
        [50, 50],
        [50, 25, 25, 25],
        [50, 50],
      ]);
    });

    it('does not keep it when a full page would have had no more records', async () => {
      expect(await sizesOf(rows(40), 50, 50, 100)).toEqual([[100, 50], [100, 50], [100]]);
    });
  });

  it('requests full pages again after one of ten was too large', async () => {
    let largest = 25;
    const { list, requests } = setUp(service(rows(60)), () => largest);
    await list({}, listingContext());
    largest = 0;
    await expect(list({}, listingContext())).rejects.toMatchObject({ reason: 'status' });
    requests.length = 0;
    largest = 100;
    expect(await list({}, listingContext())).not.toHaveProperty('reducedPageSize');
    expect(requests.map(({ size }) => size)).toEqual([100]);
  });

  it('names page_size and the records when a page of ten is too large', async () => {
    const { list, requests } = setUp(service(rows(60)), () => 9);
    await expect(list({}, listingContext())).rejects.toMatchObject({
      message: 'too large; the page of 10 records from offset 0 is too large, and page_size cannot be smaller',
    });
    expect(requests.map(({ size }) => size)).toEqual([100, 50, 25, 12, 10]);
  });

  it('returns exactly the resources of any listing with any page cap, whatever page sizes are too large', async () => {
    const caps = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1000)), { minLength: 1, maxLength: 8 });
    const largest = fc.array(fc.integer({ min: 10, max: 120 }), { minLength: 1, maxLength: 8 });
    const texts = fc.uniqueArray(fc.string({ minLength: 1, unit: codePoint }), { maxLength: 60 });
    const setting = fc.record({
      pageSize: fc.integer({ min: 1, max: 120 }),
      concurrency: fc.integer({ min: 1, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(texts, fc.nat(400).map(ids)),
        caps,
        largest,
        fc.boolean(),
        setting,
        async (names, sizes, accepted, hasTotal, options) => {
          const cap = ({ nth }: PageRequest) => sizes[nth % sizes.length] ?? 1;
          const answer = service(names.map(record), { cap, ...(hasTotal ? {} : { total: noTotal }) });
          const { list } = setUp(answer, (nth) => accepted[nth % accepted.length] ?? 10, options);
          const listing = await list({}, listingContext());
          expect(idsOf(listing)).toEqual(names);
          expect(listing).toMatchObject({ duplicates: 0, rejected: 0 });
          // Without a total, single records cannot overlap.
          if (hasTotal || Math.min(options.pageSize, ...sizes) > 1) expect(listing.complete).toBe(true);
        },
      ),
    );
  });
});

describe('stationSource path', () => {
  const encodedPath = { subscription: 'sub/1', resource_group: 'r g', zone: 'z?#', telemetry_station: 'ts' };
  const filters: QueryFilters = {
    resource_ids: ['a&b', 'é'],
    resource_type: 'type.x',
    resource_types: ['t 1', 't+2'],
    product: '\ud800',
    resource_display_name_prefix: '网=',
    enabled_alert: false,
  };
  const rest = 'product=%EF%BF%BD&resource_display_name_prefix=%E7%BD%91%3D&enabled_alert=false&';

  it.each<[QueryFilters, 'repeat' | 'comma', string]>([
    [
      filters,
      'repeat',
      `resource_ids=a%26b&resource_ids=%C3%A9&resource_type=type.x&resource_types=t%201&resource_types=t%2B2&${rest}`,
    ],
    [filters, 'comma', `resource_ids=a%26b,%C3%A9&resource_type=type.x&resource_types=t%201,t%2B2&${rest}`],
    [{ resource_ids: [], resource_types: [] }, 'comma', ''],
  ])('sends the filters %j with list style %s as %j', async (sent, listStyle, expected) => {
    const baseUrl = new URL('http://service.test/gateway/');
    const { requests, ...source } = sourceOf(service([]), { station: encodedPath, listStyle, baseUrl });
    await source.list(sent, listingContext());
    expect(requests[0]?.path).toBe(
      `/gateway/monitor/ts/data/v1/subscriptions/sub%2F1/resourceGroups/r%20g/zones/z%3F%23/telemetryStations/ts/resources?${expected}page.offset=0&page.size=10`,
    );
  });
});
