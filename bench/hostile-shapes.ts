import { RECORD_FIELDS } from '../src/model/resource.ts';

/** The default of `max_page_bytes`. */
const PAGE_BYTES = 16 * 1024 * 1024;

/** Of one record: less than the limits of a record, with room for its other fields. */
const RECORD_BYTES = 1_000_000;
const RECORD_VALUES = 5900;

/** What a service answers with; the rest of the reply is as usual. */
interface HostileReply {
  readonly status?: string;
  /** Lines between the status and the length. */
  readonly headers?: string;
  /** One byte per character. */
  readonly body?: string;
  /** Bytes of one chunk; the body is sent as a whole unless given. */
  readonly chunk?: number;
}

/** Replies that take long to read at once, with bodies of at most 16 MiB. */
const REPLIES = {
  'four records of 240,000 keys': () => listing(repeated(4, `{${keys(240_000)}}`)),
  'records of one key each': () => listing(numbered(900_000, (at) => `{"key${at}":1}`)),
  'records of 5,900 keys each': () => listing(fillPage(`{${keys(RECORD_VALUES)}}`)),
  'records of 5,900 equal keys': () => listing(fillPage(`{${repeated(RECORD_VALUES, '"resource_id":"a"')}}`)),
  'a text of 7.9 million backslash pairs': () => listing(`"${'\\\\'.repeat(7_900_000)}"`),
  'texts of a million characters': () => listing(fillPage(`{"resource_id":"${'a'.repeat(RECORD_BYTES)}"}`)),
  'a million escaped characters in the fields of each record': () =>
    listing(fillPage(recordOf('"a"', `"${'\\"'.repeat(RECORD_BYTES / 2 / (RECORD_FIELDS.length + 1))}"`))),
  'a million escaped characters in each rejected record': () =>
    listing(fillPage(`{"name":"${'\\u0001'.repeat(RECORD_BYTES / 6)}"}`)),
  'numbers of 100,000 digits in all fields': () => listing(fillPage(recordOf('"a"', '9'.repeat(100_000)))),
  'texts of 100,000 digits in all fields': () => listing(fillPage(recordOf('"a"', `"${'9'.repeat(100_000)}"`))),
  'timestamps of a million digits': () =>
    listing(fillPage(`{"resource_id":"a","create_time":"2024-01-01T00:00:00.${'0'.repeat(RECORD_BYTES)}Z"}`)),
  '8 million numbers in a record': () => listing(`[${fillPage('1')}]`),
  '8 million numbers': () => listing(fillPage('1')),
  '5.5 million empty records': () => listing(fillPage('{}')),
  'empty records on lines of their own': () => listing(fillPage('{}\n')),
  'records that only have an ID': () => listing(numbered(600_000, idOnly)),
  'one duplicate among 600,000 IDs': () => listing(`${numbered(600_000, idOnly)},${idOnly(0)}`),
  'one duplicate among 600,000 IDs, and their total': () =>
    listing(`${numbered(600_000, idOnly)},${idOnly(0)}`, '600001'),
  '10,000 IDs of 1,500 bytes': () => listing(numbered(10_000, (at) => idOnly(`${'\xe5\x90\x8d'.repeat(500)}${at}`))),
  '300,000 IDs, each twice': () => listing(`${numbered(300_000, idOnly)},${numbered(300_000, idOnly)}`),
  '600,000 IDs, and a record without one between them': () =>
    listing(`${numbered(300_000, idOnly)},{},${numbered(300_000, (at) => idOnly(`a${at}`))}`),
  'IDs that are not valid UTF-8': () => listing(numbered(600_000, () => '{"resource_id":"\xff"}')),
  'different IDs that are not valid UTF-8': () => listing(numbered(500_000, (at) => `{"resource_id":"\xff${at}"}`)),
  'invalid values in all fields': () => listing(numbered(90_000, (at) => recordOf(`"${at}"`, '[]'))),
  'values of its own in all fields of each record': () =>
    listing(numbered(60_000, (at) => `{"resource_id":"${at}",${fieldsOf(`"${at}"`)},"resource_type":{"key":"${at}"}}`)),
  'prototypes as keys': () => listing(fillPage('{"__proto__":{"resource_id":"a"},"constructor":{"prototype":1}}')),
  'records nested 5,900 deep': () => listing(fillPage(`${'{"a":'.repeat(RECORD_VALUES)}1${'}'.repeat(RECORD_VALUES)}`)),
  'arrays nested 3,500 deep as records': () => listing(fillPage(`${'['.repeat(3500)}${']'.repeat(3500)}`)),
  'nested brackets': () => ({ body: `{"resources":[${'['.repeat(PAGE_BYTES - 64)}` }),
  'a total of 1e308': () => listing(numbered(600_000, idOnly), '1e308'),
  'a total of 100,000 digits': () => listing(idOnly(0), '9'.repeat(100_000)),
  'fields beside the records': () => ({ body: `{${keys(900_000)},"resources":[]}` }),
  whitespace: () => listing(' '.repeat(PAGE_BYTES - 64)),
  'chunks of one byte': () => ({ ...listing(numbered(60_000, idOnly)), chunk: 1 }),
  'an error with a text of 16 MiB': () => ({ status: '400 Bad Request', body: `{"message":"${fillPage('a')}"}` }),
  '20,000 header lines': () => ({ headers: 'a:\r\n'.repeat(20_000) }),
  '8,000 different header lines': () => ({
    headers: Array.from({ length: 8000 }, (_, at) => `${at.toString(36)}:\r\n`).join(''),
  }),
} as const satisfies Readonly<Record<string, () => HostileReply>>;

export type HostileShape = keyof typeof REPLIES;

export const HOSTILE_SHAPES = Object.keys(REPLIES) as readonly HostileShape[];

/** The complete reply. */
export function hostileReply(shape: HostileShape): Buffer {
  const { status = '200 OK', headers = '', body = '{"resources":[]}', chunk }: HostileReply = REPLIES[shape]();
  const length = chunk === undefined ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked';
  const head = `HTTP/1.1 ${status}\r\n${headers}${length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(`${head}${chunk === undefined ? body : chunked(body, chunk)}`, 'latin1');
}

function listing(records: string, total = 'null'): HostileReply {
  return { body: `{"resources":[${records}],"page":{"total":${total}}}` };
}

function keys(count: number): string {
  return numbered(count, (at) => `"key${at}":1`);
}

function idOnly(id: number | string): string {
  return `{"resource_id":"${id}"}`;
}

/** A record with this value in all fields. */
function recordOf(id: string, value: string): string {
  return `{"resource_id":${id},${fieldsOf(value)}}`;
}

function fieldsOf(value: string): string {
  return RECORD_FIELDS.map((field) => `"${field}":${value}`).join();
}

function repeated(count: number, element: string): string {
  return Array<string>(count).fill(element).join();
}

function numbered(count: number, element: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => element(at)).join();
}

/** As often as it fits in a page. */
function fillPage(element: string): string {
  return repeated(Math.floor((PAGE_BYTES - 64) / (element.length + 1)), element);
}

function chunked(body: string, bytes: number): string {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; at += bytes) {
    const chunk = body.slice(at, at + bytes);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  }
  return `${chunks.join('')}0\r\n\r\n`;
}
