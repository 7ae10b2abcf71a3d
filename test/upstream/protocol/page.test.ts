import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { readPage as readPageOf } from '../../../src/upstream/protocol/page.ts';
import { InternedTexts, readId, readResource } from '../../../src/upstream/protocol/record.ts';
import { isCollected } from '../../held-by-buffers.ts';

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

  it('does not hold the page of the listing before', async () => {
    const pages = async () => {
      const before = await readPage(bytes({ resources: [{ resource_id: 'a' }] }));
      const page = await readPageOf(bytes({ resources: [{ resource_id: 'b' }] }), readId, async (task) => task(), {
        before,
      });
      return { page, before: new WeakRef(before.rows) };
    };
    const { page, before } = await pages();
    await expect.poll(() => isCollected(before)).toBe(true);
    expect(page.rows).toEqual(['b']);
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

  const CUT = 'y'.repeat(1024);

  it.each([
    [{ resource_id: 'a', name: 'x' }, { resource_id: 'a', name: 'y' }, true],
    [{ resource_id: 'a' }, { resource_id: 'b' }, false],
    [{ name: 'x' }, { name: 'x' }, true],
    [{ name: 'x' }, { name: 'y' }, false],
    [{ resource_id: `${CUT}1` }, { resource_id: `${CUT}2` }, false],
    [{ resource_id: '\ufffd', name: 'x' }, { resource_id: '\ufffd', name: 'y' }, false],
  ])('identifies the first and last record: %j and %j are the same: %j', async (one, other, areSame) => {
    const { borders } = await readPage(bytes({ resources: [one, null, other] }));
    expect(borders[0] === borders[1]).toBe(areSame);
    const [key] = (await readPage(bytes({ resources: [{ resource_id: borders[0] }] }))).borders;
    expect(key).not.toBe(borders[0]);
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

  const MIB = 1024 * 1024;
  const NO_ARRAY = 'expected a JSON object with one array "resources" in';
  const BOMB = '[],'.repeat(400_000);
  const large = (end: string) => `{"resources":[{"resource_id":"${'a'.repeat(MIB)}"}${end}`;

  it.each([
    ['an HTML page', '<html>'.padEnd(MIB), 'expected JSON, got an HTML or XML page (1048576 bytes)'],
    ['no array', '{"resources":null,"x":"'.padEnd(MIB, 'x'), `${NO_ARRAY} 1048576 bytes`],
    ['damaged JSON', large(',]}'), 'expected JSON, got 1048611 bytes that are not JSON'],
    ['two arrays', large('],"resources":[]}'), `${NO_ARRAY} 1048625 bytes`],
    ['an array and null', large('],"resources":null}'), `${NO_ARRAY} 1048627 bytes`],
    ['an array and another with an escaped name', large('],"\\u0072esources":[]}'), `${NO_ARRAY} 1048630 bytes`],
    [
      'a bomb of values in a record',
      `{"resources":[[${BOMB}`,
      'expected records, got one with more than 250000 values',
    ],
    ['a bomb of values before the records', `{"x":[${BOMB}`, 'expected records, got one with more than 250000 values'],
    [
      'a bomb of values after the records',
      `{"resources":[],"x":[${BOMB}`,
      'expected at most 1048576 bytes beside "resources"',
    ],
  ])('fails on %s in a large reply', async (_what, text, message) => {
    expect(await failureOf(Buffer.from(text))).toBe(`body: ${message}`);
  });
});
