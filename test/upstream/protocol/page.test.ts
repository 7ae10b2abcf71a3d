import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { readPage as readPageOf, rowFinder } from '../../../src/upstream/protocol/page.ts';
import { readId } from '../../../src/upstream/protocol/record.ts';
import { isCollected } from '../../held-by-buffers.ts';

const readPage = (body: Uint8Array, options?: Parameters<typeof readPageOf<string>>[3]) =>
  readPageOf(body, readId, async (task) => task(), options);
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const failureOf = (body: Uint8Array) =>
  readPage(body).then(
    () => undefined,
    (error: unknown) => (error instanceof ListingFailure ? `${error.reason}: ${error.message}` : error),
  );

describe('readPage', () => {
  it('reads records and total, and counts invalid records', async () => {
    const page = await readPage(
      bytes({
        resources: [{ resource_id: 'a' }, null, {}, { resource_id: 'b' }],
        page: { offset: 0, size: 9, total: 4 },
      }),
    );
    expect(page).toMatchObject({ received: 4, total: 4, totalInvalid: false });
    expect(page.parts).toMatchObject([{ rows: ['a', 'b'], ids: ['a', 'b'], positions: [0, 3] }]);
    expect(page).toMatchObject({ rejected: 2, rejectedRecords: [{ position: 1 }, { position: 2 }] });
  });

  it('reads invalid UTF-8, a byte order mark and field names that are special in JavaScript', async () => {
    const rows = [
      '{"resource_id":"a\xed\xa0\x80z"}',
      '{"resource_id":"b","__proto__":{"resource_id":"evil"}}',
      '{"__proto__":{"resource_id":"evil"}}',
      '{"resource_id":"__proto__"}',
      '{"resource_id":"c","resource_id":"d"}',
    ];
    const body = Buffer.from(`\xef\xbb\xbf{"resources":[${rows.join()}],"page":{"total":5},"__proto__":{}}`, 'latin1');
    const page = await readPage(body);
    expect(page).toMatchObject({ received: 5, rejected: 1, total: 5 });
    expect(page.parts).toMatchObject([{ rows: ['a\ufffd\ufffd\ufffdz', 'b', '__proto__', 'd'] }]);
  });

  it('does not hold the page of the listing before', async () => {
    const pages = async () => {
      const before = await readPage(bytes({ resources: [{ resource_id: 'a' }] }));
      const page = await readPage(bytes({ resources: [{ resource_id: 'b' }] }), { before });
      return { page, before: new WeakRef(before.parts) };
    };
    const { page, before } = await pages();
    await expect.poll(() => isCollected(before)).toBe(true);
    expect(page.parts).toMatchObject([{ rows: ['b'], positions: undefined }]);
  });

  it.each([
    [{ total: '12' }, 12, false],
    [{ total: 0 }, 0, false],
    [{ total: null }, undefined, false],
    ['12', undefined, false],
    [{ total: -1 }, undefined, true],
  ])('reads the page %j as total %j', async (page, total, totalInvalid) => {
    expect(await readPage(bytes({ resources: [], page }))).toMatchObject({ total, totalInvalid });
  });

  it.each([
    ['<html></html>', 'body: expected JSON, got an HTML or XML page (13 bytes)'],
    ['nonsense', 'body: expected JSON, got 8 bytes that are not JSON'],
    ['[]', 'body: expected a JSON object, got an array'],
    ['null', 'body: expected a JSON object, got null'],
    ['{}', 'body: expected a JSON object with a field "resources"'],
    ['{"__proto__":{"resources":[]}}', 'body: expected a JSON object with a field "resources"'],
    ['{"resources":{}}', 'body: expected "resources" to be an array, got an object'],
  ])('fails on %s', async (text, message) => {
    expect(await failureOf(Buffer.from(text))).toBe(message);
  });

  it('reads a page or fails with reason body, for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (body) => {
          expect((await failureOf(body)) ?? 'body: ').toMatch(/^body: /);
        },
      ),
    );
  });

  /** The most that is parsed and read in one task. */
  async function readCounting(body: Uint8Array) {
    const most = { parsed: 0, read: 0 };
    let inTask = { parsed: 0, read: 0 };
    const count = (what: keyof typeof most, amount: number) => {
      inTask[what] += amount;
      most[what] = Math.max(most[what], inTask[what]);
    };
    const parse = JSON.parse;
    const spy = vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
      count('parsed', text.length);
      return parse(text);
    });
    const readRow = (record: unknown) => {
      count('read', 1);
      return readId(record);
    };
    const run = async <T>(task: () => T) => {
      inTask = { parsed: 0, read: 0 };
      return task();
    };
    const outcome = await readPageOf(body, readRow, run)
      .then(({ received }) => `${received} records`)
      .catch(({ message }: Error) => message)
      .finally(() => spy.mockRestore());
    return { outcome, ...most };
  }

  const PAGE_BYTES = 16 * 1024 * 1024;
  const listOf = (element: string) => `{"resources":[${`${element},`.repeat(99_999)}1]}`;
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `"key${at}":1`).join();
  const HALF = PAGE_BYTES / 2;

  it.each([
    { shape: 'records of 240,000 keys', text: `{"resources":[{${keys(240_000)}},{}]}`, outcome: 'than 6000 values' },
    {
      shape: 'a string of backslashes',
      text: `{"resources":["${'\\\\'.repeat(HALF)}"]}`,
      outcome: 'than 1048576 bytes',
    },
    { shape: 'a text without an end', text: `{"resources":[{"a":"${'a'.repeat(HALF)}`, outcome: 'than 1048576 bytes' },
    { shape: 'numbers in a record', text: `{"resources":[[${'1,'.repeat(HALF)}1]]}`, outcome: 'than 6000 values' },
    { shape: 'numbers as records', text: listOf('1'), outcome: '100000 records' },
    { shape: 'empty records', text: listOf('{}'), outcome: '100000 records' },
    { shape: 'empty records on lines', text: listOf('{}\n'), outcome: '100000 records' },
    { shape: 'records with nested borders', text: listOf('{"a":[{},{}]}'), outcome: '100000 records' },
    { shape: 'members before the records', text: `{${keys(900_000)},"resources":[]}`, outcome: '131072 bytes beside' },
    { shape: 'members after the records', text: `{"resources":[],${keys(900_000)}}`, outcome: '131072 bytes beside' },
    { shape: 'whitespace', text: `{"resources":[${' '.repeat(HALF)}]}`, outcome: 'than 1048576 bytes' },
    { shape: 'brackets', text: `{"resources":${'['.repeat(HALF)}`, outcome: 'than 6000 values' },
  ])('parses and reads little in one task of a page with $shape', async ({ text, outcome }) => {
    const page = await readCounting(Buffer.from(text));
    expect(page.outcome).toContain(outcome);
    expect(page.parsed).toBeLessThan(2 * 128 * 1024);
    expect(page.read).toBeLessThanOrEqual(1000);
  });

  it('reads records with long texts and many unknown fields', async () => {
    const extra = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`field${at}`, 'x'.repeat(100)]));
    const records = Array.from({ length: 20 }, (_, at) => ({ resource_id: `id-${at}`, display_name: '名', ...extra }));
    const body = Buffer.from(JSON.stringify({ resources: records, page: { total: 20 } }, undefined, 2));
    expect(await readPage(body)).toMatchObject({ received: 20, rowCount: 20, total: 20 });
  });

  it('stops where the progress throws, before the end of a large page', async () => {
    const records = Array.from({ length: 100_000 }, (_, index) => ({ resource_id: `id-${index}` }));
    let read = 0;
    const progress = (rows: number) => {
      read = rows;
      if (rows > 20_000) throw new ListingFailure('body', 'enough');
    };
    await expect(readPage(bytes({ resources: records }), { progress })).rejects.toThrow('enough');
    expect(read).toBeLessThan(40_000);
  });
});

describe('rowFinder', () => {
  it('finds the rows that stayed in their order when one was inserted or removed', () => {
    const foundIn = (rows: readonly string[], ids: readonly string[]) => {
      const find = rowFinder([{ rows, ids: rows }]);
      return ids.filter((id) => find(id) === id).join('');
    };
    expect(foundIn([...'abcd'], [...'axbcd'])).toBe('abcd');
    expect(foundIn([...'abcd'], [...'acd'])).toBe('acd');
    expect(foundIn([], [...'a'])).toBe('');
  });

  it('finds the rows of all parts of a large page', async () => {
    const all = Array.from({ length: 2500 }, (_, at) => ({ resource_id: `id-${at}` }));
    const { parts } = await readPage(bytes({ resources: all }));
    const find = rowFinder(parts);
    expect(all.filter(({ resource_id }) => find(resource_id) === resource_id)).toHaveLength(2500);
  });

  it('finds no row but the one of the id', () => {
    const ids = fc.array(fc.constantFrom(...'abcd'));
    fc.assert(
      fc.property(ids, ids, (rows, sought) => {
        const find = rowFinder([{ rows, ids: rows }]);
        for (const id of sought) expect([id, undefined]).toContain(find(id));
      }),
    );
  });
});
