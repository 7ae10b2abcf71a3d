import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { TaskQueue } from '../../../src/model/task-queue.ts';
import { RecordBudget } from '../../../src/refresh/record-budget.ts';
import { stationSource } from '../../../src/upstream/station-source.ts';
import { listingContext } from '../support/context.ts';

interface ServiceState {
  readonly ids: readonly string[];
  readonly hasTotal?: boolean;
  /** Where the page of an offset begins, if not there. */
  readonly start?: (offset: number) => number;
  /** Requests that fail. */
  readonly fails?: (offset: number, product: string | null) => boolean;
}

const ids = (count: number, prefix = 'r') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const MINUTE_MS = 60_000;

/** A source with one request at a time, over a service that the test changes between refreshes. */
function setUp(initial: ServiceState, limits = { records: 1000, records_per_station: 1000 }) {
  const records = new RecordBudget(limits);
  let state = initial;
  let nowMs = 0;
  let requests: number[] = [];
  const get = async <T>(path: string, _context: unknown, read: (body: Uint8Array) => T | Promise<T>) => {
    const query = new URLSearchParams(path.slice(path.indexOf('?')));
    const offset = Number(query.get('page.offset'));
    requests.push(offset);
    await new Promise(setImmediate);
    if (state.fails?.(offset, query.get('product'))) throw new ListingFailure('status', `no page at ${offset}`);
    const start = state.start?.(offset) ?? offset;
    const resources = state.ids.slice(start, start + Number(query.get('page.size'))).map((id) => ({ resource_id: id }));
    return read(
      Buffer.from(JSON.stringify({ resources, page: state.hasTotal === false ? null : { total: state.ids.length } })),
    );
  };
  const options = {
    baseUrl: new URL('http://service.test'),
    listStyle: 'repeat',
    pageSize: 10,
    concurrency: 1,
  } as const;
  const reusePagesMs = MINUTE_MS;
  const source = stationSource(
    get,
    { ...options, reusePagesMs },
    new TaskQueue(),
    {},
    { records, clock: { elapsedMs: () => nowMs } },
  );
  const path = { subscription: 's', resourceGroup: 'g', zone: 'z', telemetryStation: 't' };

  /** The offsets requested by a refresh of one listing, or of one per product, in order. */
  const refresh = async (products: readonly (string | undefined)[] = [undefined]) => {
    requests = [];
    const end = new AbortController();
    const context = listingContext({ signal: end.signal });
    try {
      const listings = [];
      for (const product of products) {
        const filters = product === undefined ? {} : { product };
        listings.push(await source.listIds({ path, filters }, context));
      }
      return { requests, failed: false, listings, listed: listings.flatMap(({ parts }) => parts.flat()) };
    } catch (error) {
      expect(error).toBeInstanceOf(ListingFailure);
      return { requests, failed: true, listings: [], listed: [] };
    } finally {
      end.abort();
    }
  };
  return {
    records,
    refresh,
    change: (changes: Partial<ServiceState>) => {
      state = { ...state, ...changes };
    },
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

const failsAt60 = (offset: number) => offset === 60;
const never = () => false;

describe('stationSource, after a failed refresh', () => {
  it('requests the first and the last page that were received, and those that were not', async () => {
    const { refresh, change } = setUp({ ids: ids(100), fails: failsAt60 });
    expect(await refresh()).toMatchObject({ failed: true, requests: [0, 10, 20, 30, 40, 50, 60] });
    change({ fails: never });
    const { requests, listed, listings } = await refresh();
    expect(requests).toEqual([0, 50, 60, 70, 80, 90]);
    expect(listed).toEqual(ids(100));
    expect(listings[0]).toMatchObject({ complete: true, duplicates: 0, pages: 6 });
  });

  it('requests every page after a success', async () => {
    const { refresh, change } = setUp({ ids: ids(30), fails: (offset) => offset === 20 });
    await refresh();
    change({ fails: never });
    await refresh();
    expect((await refresh()).requests).toEqual([0, 10, 20]);
  });

  it('makes progress with every refresh that fails', async () => {
    const { refresh, change } = setUp({ ids: ids(100), fails: failsAt60 });
    await refresh();
    change({ fails: (offset) => offset === 80 });
    expect((await refresh()).requests).toEqual([0, 50, 60, 70, 80]);
    change({ fails: (offset) => offset === 0 });
    expect((await refresh()).requests).toEqual([0]);
    change({ fails: never });
    expect((await refresh()).requests).toEqual([0, 70, 80, 90]);
  });

  it('without a total, checks that reused pages overlap, and lists once more without them if not', async () => {
    const { refresh, change } = setUp({ ids: ids(50), hasTotal: false, fails: (offset) => offset === 27 });
    expect((await refresh()).requests).toEqual([0, 9, 18, 27]);
    change({ fails: never });
    const resumed = await refresh();
    expect(resumed.requests).toEqual([0, 27, 36, 45, 50]);
    expect(resumed.listed).toEqual(ids(50));
    expect(resumed.listings[0]).toMatchObject({ complete: true, duplicates: 0 });

    change({ fails: (offset) => offset === 27 });
    await refresh();
    const moved = ids(50).filter((id) => id !== 'r15');
    change({ fails: never, ids: moved });
    const restarted = await refresh();
    expect(restarted.requests).toEqual([0, 27, 0, 9, 18, 27, 36, 45, 49]);
    expect(restarted.listed).toEqual(moved);
    expect(restarted.listings[0]?.complete).toBe(true);
  });

  it.each([
    ['the total has changed', { ids: ids(101) }],
    ['the first page has changed', { ids: ['new', ...ids(99)] }],
  ])('reuses no page when %s', async (_, changes) => {
    const { refresh, change } = setUp({ ids: ids(100), fails: failsAt60 });
    await refresh();
    change({ ...changes, fails: never });
    const { requests, listed } = await refresh();
    expect(requests.slice(0, 10)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(listed).toEqual(changes.ids);
  });

  it('reuses no page when rows were replaced, which the total does not show', async () => {
    const { refresh, change } = setUp({ ids: ids(100), fails: failsAt60 });
    await refresh();
    const replaced = [...ids(100).filter((id) => id !== 'r15'), 'new'];
    change({ ids: replaced, fails: never });
    const { requests, listed } = await refresh();
    expect(requests).toEqual([0, 50, 10, 20, 30, 40, 60, 70, 80, 90]);
    expect(listed).toEqual(replaced);
  });

  it('reuses no page in a second pass, nor pages of the first pass after a failure in the second', async () => {
    const { refresh, change } = setUp({ ids: ids(100), fails: failsAt60 });
    await refresh();
    // The last page repeats a record: the listing does not add up, and the second pass fails.
    let started = 0;
    change({
      ids: [...ids(99), 'r0'],
      fails: (offset) => {
        started += offset === 0 ? 1 : 0;
        return started === 2 && offset === 30;
      },
    });
    expect((await refresh()).requests).toEqual([0, 50, 60, 70, 80, 90, 0, 10, 20, 30]);
    change({ ids: ids(100), fails: never });
    const { requests, listed } = await refresh();
    expect(requests).toEqual([0, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(listed).toEqual(ids(100));
  });

  it('reuses no page that is too old when it is needed', async () => {
    const { refresh, change, wait } = setUp({ ids: ids(100), fails: failsAt60 });
    await refresh();
    change({ fails: never });
    wait(MINUTE_MS + 1);
    expect((await refresh()).requests).toHaveLength(10);
  });

  it('holds nothing for the next refresh when the records exceed their limit', async () => {
    const { refresh, change, records } = setUp({ ids: ids(100) }, { records: 1000, records_per_station: 30 });
    expect((await refresh()).failed).toBe(true);
    expect(records.total).toBe(0);
    change({ ids: ids(70) });
    expect((await refresh()).requests).toEqual([0, 10, 20, 30, 40, 50, 60]);
  });

  it('counts the records of a second pass only', async () => {
    const aligned = (offset: number) => offset - (offset % 10);
    const { refresh, records } = setUp({ ids: ids(40), hasTotal: false, start: aligned });
    expect((await refresh()).listings[0]).toMatchObject({ complete: false, size: 40 });
    // Four pages of ten ids, the one that did not overlap, and the empty one.
    expect(records.total).toBe(4 * 4 + 4 + 1);
  });

  it('reuses the pages of a listing that succeeded in a refresh that failed', async () => {
    const { refresh, change } = setUp({ ids: ids(30), fails: (offset, product) => product === 'b' && offset === 10 });
    expect((await refresh(['a', 'b'])).requests).toEqual([0, 10, 20, 0, 10]);
    change({ fails: never });
    const { requests, listings } = await refresh(['a', 'b']);
    expect(requests).toEqual([0, 20, 0, 10, 20]);
    expect(listings.map(({ complete, size, pages }) => [complete, size, pages])).toEqual([
      [true, 30, 2],
      [true, 30, 3],
    ]);
  });
});
