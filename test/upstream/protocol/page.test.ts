import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { PageSize, readPage as readPageOf } from '../../../src/upstream/protocol/page.ts';
import { InternedTexts, readId, readResource } from '../../../src/upstream/protocol/record.ts';

const readPage = (body: Uint8Array) => readPageOf(body, readId, async (task) => task());
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
    expect(page.rows).toEqual(['a', 'b']);
    expect(page.positions).toEqual([0, 3]);
  });

  it.each([
    [{ total: '12' }, 12, false],
    [{ total: 0 }, 0, false],
    [{}, undefined, false],
    [{ total: null }, undefined, false],
    [null, undefined, false],
    [undefined, undefined, false],
    ['12', undefined, false],
    [{ total: -1 }, undefined, true],
    [{ total: 'many' }, undefined, true],
    [{ total: 1.5 }, undefined, true],
  ])('reads the page %j as total %j', async (page, total, totalInvalid) => {
    expect(await readPage(bytes({ resources: [], page }))).toMatchObject({ total, totalInvalid });
  });

  it('identifies the first and last record, with or without an id', async () => {
    const bordersOf = async (...resources: unknown[]) => (await readPage(bytes({ resources }))).borders;
    expect(await bordersOf({ resource_id: 'a', name: 'x' }, null, { resource_id: 'b' })).toEqual(
      await bordersOf({ resource_id: 'a', name: 'y' }, { resource_id: 'b' }),
    );
    const [named, other] = await bordersOf({ name: 'x' }, { name: 'y' });
    expect(named).not.toBe(other);
    expect(await bordersOf({ name: 'x' })).toEqual([named, named]);
    expect(await bordersOf({ resource_id: named })).not.toEqual([named, named]);
    const [cut, other1] = await bordersOf(
      { resource_id: `${'y'.repeat(1024)}1` },
      { resource_id: `${'y'.repeat(1024)}2` },
    );
    expect(cut).not.toBe(other1);
    const [replaced, other2] = await bordersOf(
      { resource_id: '\ufffd', name: 'x' },
      { resource_id: '\ufffd', name: 'y' },
    );
    expect(replaced).not.toBe(other2);
  });

  it.each([
    ['<html></html>', 'body: expected JSON, got an HTML or XML page (13 bytes)'],
    ['nonsense', 'body: expected JSON, got 8 bytes that are not JSON'],
    ['', 'body: expected JSON, got 0 bytes that are not JSON'],
    ['[]', 'body: expected a JSON object, got an array'],
    ['null', 'body: expected a JSON object, got null'],
    ['"x"', 'body: expected a JSON object, got a string'],
    ['{}', 'body: expected a JSON object with a field "resources"'],
    ['{"__proto__":{"resources":[]}}', 'body: expected a JSON object with a field "resources"'],
    ['{"resources":{}}', 'body: expected "resources" to be an array, got an object'],
    ['{"resources":"x"}', 'body: expected "resources" to be an array, got a string'],
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

  it('reads a large page in short tasks, into parts of at most 1,000 rows', async () => {
    const records = Array.from({ length: 12_345 }, (_, index) => ({
      resource_id: index % 5000 === 7 ? '' : `id-${index}`,
      display_name: '名'.repeat(20),
      sku: index === 9999 ? 1 : '1 GPU',
    }));
    const rowsPerTask: number[] = [];
    const page = await readPageOf(
      bytes({ resources: records, page: { total: 12_345 } }),
      (record) => {
        rowsPerTask.push((rowsPerTask.pop() ?? 0) + 1);
        return readResource(record, new InternedTexts());
      },
      async (task) => {
        rowsPerTask.push(0);
        return task();
      },
    );
    expect(Math.max(...rowsPerTask)).toBeLessThan(5000);
    expect(page).toMatchObject({ received: 12_345, total: 12_345 });
    expect(page.parts.map(({ rows }) => rows.length)).toEqual([...Array(12).fill(1000), 342]);
    for (const { rows, positions } of page.parts)
      expect(rows.map(({ id }) => id)).toEqual(positions?.map((position) => records[position]?.resource_id));
    expect(
      page.parts.flatMap(({ rows, invalid }) => Array.from(invalid, ([index, fields]) => [rows[index]?.id, fields])),
    ).toEqual([['id-9999', ['sku']]]);
    expect(page.parts.flatMap(({ rows }) => rows)).toEqual(page.rows);
  });

  it('stops where the progress throws, before the end of a large page', async () => {
    const records = Array.from({ length: 100_000 }, (_, index) => ({ resource_id: `id-${index}` }));
    let read = 0;
    const reading = readPageOf(
      bytes({ resources: records }),
      (record) => {
        read += 1;
        return readId(record);
      },
      async (task) => task(),
      {
        progress: (rows) => {
          if (rows > 20_000) throw new ListingFailure('body', 'enough');
        },
      },
    );
    await expect(reading).rejects.toThrow('enough');
    expect(read).toBeLessThan(40_000);
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, -1)],
    ['with a comma after the last record', (text: string) => text.replace(']', ',]')],
    ['with two commas in a row', (text: string) => text.replace('},{', '},,{')],
    ['with text after it', (text: string) => `${text}x`],
  ])('fails on a large page %s', async (_what, change) => {
    const text = JSON.stringify({
      resources: Array.from({ length: 20_000 }, (_, index) => ({ resource_id: `id-${index}-and-more` })),
    });
    expect(await failureOf(Buffer.from(text))).toBeUndefined();
    const broken = change(text);
    expect(await failureOf(Buffer.from(broken))).toBe(
      `body: expected JSON, got ${broken.length} bytes that are not JSON`,
    );
  });

  it.each([
    ['an HTML page', '<html>'.padEnd(1024 * 1024), 'expected JSON, got an HTML or XML page (1048576 bytes)'],
    [
      'no array',
      '{"resources":null,"x":"'.padEnd(1024 * 1024, 'x'),
      'expected a JSON object with one array "resources" in 1048576 bytes',
    ],
    [
      'two arrays',
      `{"resources":[{"resource_id":"${'a'.repeat(1024 * 1024)}"}],"resources":[{}]}`,
      'expected a JSON object with one array "resources" in 1048627 bytes',
    ],
    [
      'a bomb of values in a record',
      `{"resources":[[${'[],'.repeat(400_000)}`,
      'expected records, got one with more than 250000 values',
    ],
    [
      'a bomb of values before the records',
      `{"x":[${'[],'.repeat(400_000)}`,
      'expected records, got one with more than 250000 values',
    ],
    [
      'a bomb of values after the records',
      `{"resources":[],"x":[${'[],'.repeat(400_000)}`,
      'expected at most 1048576 bytes beside "resources"',
    ],
  ])('fails on %s in a large reply', async (_what, text, message) => {
    expect(await failureOf(Buffer.from(text))).toBe(`body: ${message}`);
  });

  it.each(['"resources":[]', '"resources":null', '"\\u0072esources":[]'])(
    'fails on %s after the records of a large reply',
    async (second) => {
      const text = `{"resources":[{"resource_id":"${'a'.repeat(1024 * 1024)}"}],${second}}`;
      expect(await failureOf(Buffer.from(text))).toBe(
        `body: expected a JSON object with one array "resources" in ${text.length} bytes`,
      );
    },
  );
});

function pageSizeOf(most: number) {
  const reductions: number[] = [];
  return { reductions, pageSize: new PageSize(most, (size) => reductions.push(size)) };
}

describe('PageSize', () => {
  it('decreases strictly until it ends', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.array(fc.integer({ min: 1, max: 10_000 })),
        (most, wanted) => {
          const { pageSize, reductions } = pageSizeOf(most);
          for (const size of wanted) {
            const requested = pageSize.atMost(size);
            const less = pageSize.below(requested);
            expect(less === undefined ? requested <= 10 : less < requested && less >= 10).toBe(true);
          }
          expect(reductions.length).toBeLessThanOrEqual(10);
        },
      ),
    );
  });
});
