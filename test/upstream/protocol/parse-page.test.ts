import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { parsePage } from '../../../src/upstream/protocol/parse-page.ts';

const parse = (text: string) => parsePage(Buffer.from(text));

const messageOf = (text: string) =>
  parse(text).then(
    () => 'parsed',
    (error: unknown) => (error instanceof ListingFailure ? `${error.reason}: ${error.message}` : error),
  );

/** A field that makes a page large. */
const LARGE = `"large":["${'a'.repeat(524_288)}"]`;

/** An element that ends a piece. */
const END: readonly number[] = Array(2500).fill(0);

/** An object that has the values of a piece, and is not divided. */
const OBJECT = JSON.stringify(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`field${at}`, at])));

/** A page of pieces that have a record each. */
const largePage = (records: readonly string[], rest = '') =>
  `{${LARGE},"resources":[${records.join(`,${JSON.stringify(END)},`)}]${rest}}`;

/** What a page is parsed as: the fields that are read, and none when it is not JSON. */
async function fieldsOf(text: string, parseText: (text: string) => unknown): Promise<unknown> {
  try {
    const { resources, page } = (await parseText(text)) as { resources?: unknown; page?: unknown };
    return { resources, page };
  } catch {
    return 'none';
  }
}

describe('parsePage', () => {
  it('parses a large page in pieces', async () => {
    const records = ['{"a":[1,{}]}', '[]', 'null', '"\\\\\\"]"', '1'];
    expect(await parse(largePage(records, ',"page":{"total":9},"other":[1,2]'))).toMatchObject({
      resources: [{ a: [1, {}] }, END, [], END, null, END, '\\"]', END, 1],
      page: { total: 9 },
    });
  });

  it.each([
    { field: 'the last of two arrays', text: largePage(['1', '2'], ',"resources":[3]'), resources: [3] },
    { field: 'an array with an escape in its name', text: `{${LARGE},"resourc\\u0065s":[1,2]}`, resources: [1, 2] },
    { field: 'no array inside of a field', text: `{"a":{"resources":[1]},"resources":[2],${LARGE}}`, resources: [2] },
    { field: 'an array beside a large object', text: `{${LARGE},"resources":[1],"other":${OBJECT}}`, resources: [1] },
    { field: 'a string', text: `{${LARGE},"resources":"[2]"}`, resources: '[2]' },
    { field: 'an empty array', text: `{${LARGE},"resources":[ ]}`, resources: [] },
  ])('takes $field for the resources of a large page', async ({ text, resources }) => {
    expect(await fieldsOf(text, JSON.parse)).toEqual({ resources });
    expect(await fieldsOf(text, parse)).toEqual({ resources });
  });

  it.each([
    { fault: 'nothing before a comma', text: largePage(['', '1']) },
    { fault: 'nothing between commas', text: largePage(['1', '', '2']) },
    { fault: 'nothing after a comma', text: largePage(['1', '2', ' ']) },
    { fault: 'a wrong bracket', text: largePage(['1', '2']).replace(/]}$/, '}}') },
    { fault: 'a wrong bracket in a record', text: largePage(['1', '{"a":1]', '2']) },
    { fault: 'no end', text: largePage(['1', '2']).slice(0, -1) },
    { fault: 'an array without an end', text: largePage(['1', '2']).slice(0, -2) },
    { fault: 'a string without an end', text: largePage(['1', '"2\\"']) },
    { fault: 'two values', text: `${largePage(['1', '2'])}{}` },
    { fault: 'a byte order mark in the middle', text: largePage(['1', '\ufeff2', '3']) },
  ])('fails on a large page with $fault', async ({ text }) => {
    expect(await messageOf(text)).toMatch(/that are not JSON$/);
  });

  it.each([
    { page: 'HTML', text: '\n<html></html>', message: 'body: expected JSON, got an HTML or XML page (14 bytes)' },
    {
      page: 'much HTML',
      text: `\ufeff<html>${'a'.repeat(600_000)}`,
      message: 'body: expected JSON, got an HTML or XML page (600009 bytes)',
    },
    {
      page: 'a record of many values',
      text: `{${LARGE},"resources":[1,[${'0,'.repeat(22_500)}0]]}`,
      message: 'body: expected records of at most 20000 values, got more or a missing bracket after character 524315',
    },
    {
      page: 'a map of resources',
      text: `{"resources":{"a":"${'a'.repeat(524_288)}"}}`,
      message:
        'body: expected a JSON object with an array "resources" and little else, got 524310 characters outside of arrays',
    },
    {
      page: 'many empty records',
      text: `{"resources":[${'{},'.repeat(500_000)}{}]}`,
      message: 'body: expected at most 1000000 values in a page, got more',
    },
    {
      page: 'many empty arrays',
      text: `{"resources":[${'[],'.repeat(500_000)}[]]}`,
      message: 'body: expected at most 1000000 values in a page, got more',
    },
  ])('fails on a page that is or has $page', async ({ text, message }) => {
    expect(await messageOf(text)).toBe(message);
  });

  it('parses a record with a long text', async () => {
    const resources = ['a'.repeat(5_000_000)];
    expect(await parse(JSON.stringify({ resources }))).toEqual({ resources });
  });

  it('parses a large page as JSON.parse does, or fails when it does', async () => {
    const record = fc.oneof(fc.json({ maxDepth: 3 }), fc.constantFrom('', '{', ']', '"', '\\', '{"a":"\\\\"}'));
    const records = fc.array(record, { maxLength: 4 });
    const rest = fc.constantFrom('', ',"page":{"total":2}', ',"a":[1,2]', ',', ']');
    await fc.assert(
      fc.asyncProperty(records, rest, async (...page) => {
        const text = largePage(...page);
        expect(await fieldsOf(text, parse)).toEqual(await fieldsOf(text, JSON.parse));
      }),
    );
  });

  it('ends at the next piece when the refresh is aborted, and parses none after it', async () => {
    const end = new AbortController();
    const parsed = parsePage(Buffer.from(largePage(['1', '2', '3', 'not JSON'])), end.signal);
    setImmediate(() => end.abort(new Error('aborted')));
    await expect(parsed).rejects.toThrow('aborted');
  });
});
