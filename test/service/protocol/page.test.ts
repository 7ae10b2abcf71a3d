import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { ID_LISTING } from '../../../src/resources/listings.ts';
import { readPage as readPageOf, rowFinder } from '../../../src/service/protocol/page.ts';
import { iterationsDuring } from '../../event-loop.ts';
import { isCollected } from '../../held-by-buffers.ts';

const readPage = (body: Uint8Array, options?: Parameters<typeof readPageOf<string>>[2]) =>
  readPageOf(body, ID_LISTING, options);
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
    ['{"page":{"size":100}}', undefined],
    ['{"page":{"offset":13,"size":100,"total":13}}', 13],
    ['{"page":{},"request_id":"a1"}', undefined],
  ])('reads %s, without a list, as an empty page', async (text, total) => {
    expect(await readPage(Buffer.from(text))).toMatchObject({ received: 0, rejected: 0, total });
  });

  it.each([
    ['camelCase', [{ resourceId: 'a' }, { resourceId: 'b' }]],
    ['camelCase, though the first records have no id', [null, { displayName: 'x' }, { resourceId: 'a' }]],
    ['either spelling', [{ resourceId: 'a' }, { resource_id: 'b' }]],
  ])('reads records in %s', async (_, resources) => {
    const rejectedTexts = ({ display_name }: { readonly display_name?: unknown }) => ({ name: String(display_name) });
    const named = { ...ID_LISTING, fields: ['display_name'], rejectedTexts };
    const page = await readPageOf(bytes({ resources }), named);
    const sent = resources as readonly Record<string, string>[];
    const ids = sent.flatMap((record) => record?.['resourceId'] ?? record?.['resource_id'] ?? []);
    expect(page.parts).toMatchObject([{ rows: ids, ids }]);
    expect(page.borders[1]).toBe(`id ${ids.at(-1)}`);
    expect(page.rejectedRecords.flatMap(({ texts }) => texts['name'] ?? [])).toEqual(
      sent.flatMap((record) => record?.['displayName'] ?? []),
    );
  });

  it('reads no camelCase beside records in the usual spelling', async () => {
    const page = await readPage(bytes({ resources: [{ resource_id: 'a' }, { resourceId: 'b' }] }));
    expect(page).toMatchObject({ received: 2, rejected: 1 });
  });

  it.each([
    ['<html></html>', 'body: expected JSON, got an HTML or XML page (13 bytes)'],
    ['', 'body: expected JSON, got an empty reply'],
    ['nonsense', 'body: expected JSON, got 8 bytes that are not JSON'],
    ['[]', 'body: expected a JSON object, got an array'],
    ['null', 'body: expected a JSON object, got null'],
    ['{}', 'body: expected a JSON object with a field "resources"; it is empty'],
    ['{"__proto__":{"resources":[]}}', 'body: expected a JSON object with a field "resources"; it has "__proto__"'],
    ['{"result":{"resources":[]}}', 'body: expected a JSON object with a field "resources"; it has "result"'],
    [
      '{"result":{"resource_id":"a"}}\n{"result":{"resource_id":"b"}}\n',
      'body: expected a JSON object, got a stream of objects; it has "result"',
    ],
    ['{"page":null}', 'body: expected a JSON object with a field "resources"; it has "page"'],
    [
      '{"code":13,"message":"internal","details":[],"page":{}}',
      'body: expected a JSON object with a field "resources"; it has "code", "message", "details", "page"',
    ],
    [
      '{"items":[{"resource_id":"a"}],"page":{"size":100}}',
      'body: expected a JSON object with a field "resources"; it has "items", "page"',
    ],
    [
      `{"a":1,"b":2,"c":3,"${'d'.repeat(61)}":4,"e":5,"f":6}`,
      `body: expected a JSON object with a field "resources"; it has "a", "b", "c", "${'d'.repeat(60)}…", and 2 more`,
    ],
    ['{"resources":{}}', 'body: expected "resources" to be an array, got an object'],
  ])('fails on %s', async (text, message) => {
    expect(await failureOf(Buffer.from(text))).toBe(message);
  });

  it('fails as after a connection that closed early, and can be retried, wherever a page is cut', async () => {
    const record = { resource_id: 'a"\\', name: '{[', resource_type: { key: 'é' }, alert_rules_count: -1.5e3 };
    const page = bytes({ resources: [record, record], page: { offset: 0, size: 100, total: 2 } });
    for (let length = 1; length < page.length; length += 1)
      expect(await failureOf(page.subarray(0, length))).toBe(
        `network: the reply ends in the middle, after ${length} bytes`,
      );
    const retryable = await Promise.allSettled([readPage(page.subarray(0, 9)), readPage(Buffer.from(' \r\n'))]);
    expect(retryable).toMatchObject(Array(2).fill({ reason: { retryable: true } }));
  });

  it('fails with reason body on text that is no JSON from its begin, or complete but invalid', async () => {
    const texts = ['{{ .Error }', '{resources: [', '{"resources": [}]}', '{"resources": nil}', 'null nothing ['];
    for (const text of [...texts, '[error] upstream {"a'])
      expect(await failureOf(Buffer.from(text))).toBe(
        `body: expected JSON, got ${text.length} bytes that are not JSON`,
      );
  });

  it('reads a page, or fails with reason body or as cut off, for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (body) => {
          expect((await failureOf(body)) ?? 'body: ').toMatch(/^(body: |network: the reply ends in the middle, )/);
        },
      ),
    );
  });

  it.each([
    { what: 'the records of a page, of 1,000 at a time', records: 5000, length: 1, pauses: 5 },
    { what: 'a large page, between parsing it and its records', records: 1000, length: 1200, pauses: 2 },
  ])('pauses while it reads $what', async ({ records, length, pauses }) => {
    const body = bytes({ resources: Array(records).fill({ resource_id: 'a', name: 'a'.repeat(length) }) });
    expect(await iterationsDuring(() => readPage(body))).toBe(pauses);
  });

  it('does not parse a large page when the refresh is aborted', async () => {
    const end = new AbortController();
    const page = readPage(Buffer.from(`{"resources":"${'a'.repeat(1_000_000)}`), { signal: end.signal });
    end.abort(new Error('aborted'));
    await expect(page).rejects.toThrow('aborted');
  });

  it('ends at the next pause when the refresh is aborted', async () => {
    const end = new AbortController();
    let read = 0;
    const readRow = (record: unknown) => {
      read += 1;
      if (read === 10) end.abort(new Error('aborted'));
      return ID_LISTING.read(record, () => undefined);
    };
    const body = bytes({ resources: Array(5000).fill({ resource_id: 'a' }) });
    await expect(readPageOf(body, { ...ID_LISTING, read: readRow }, { signal: end.signal })).rejects.toThrow('aborted');
    expect(read).toBe(1000);
  });

  it.each([
    {
      shape: 'millions of empty records',
      text: `{"resources":[${'{},'.repeat(800_000)}{}]}`,
      outcome: 'at most 1000000 values',
    },
    {
      shape: 'records of deep nesting',
      text: `{"resources":[${Array(3).fill(`${'['.repeat(5000)}${']'.repeat(5000)}`)}]}`,
      outcome: '3 rejected',
    },
  ])('reads or refuses a page with $shape', async ({ text, outcome }) => {
    const result = await readPage(Buffer.from(text)).then(
      ({ rejected }) => `${rejected} rejected`,
      ({ message }: Error) => message,
    );
    expect(result).toContain(outcome);
  });

  it('reads no record of a page that has too many', async () => {
    const counted = (records: number) => {
      throw new ListingFailure('body', `${records} are too many`);
    };
    const resources = [{ resource_id: 'a' }, {}];
    await expect(readPage(bytes({ resources }), { counted })).rejects.toThrow('2 are too many');
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
});
