/** The default of `max_page_bytes`. */
const PAGE_BYTES = 16 * 1024 * 1024;

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"key${at.toString(36)}":1`).join();

/** As many as fit in a page. */
const elements = (element: string) => {
  const count = Math.floor((PAGE_BYTES - 64) / (element.length + 1));
  return Array<string>(count).fill(element).join();
};

/** Bodies that take long to read at once, each of at most 16 MiB. */
const BODIES = {
  'four records of 240,000 keys': () =>
    `{"resources":[${Array<string>(4)
      .fill(`{${keys(240_000)}}`)
      .join()}]}`,
  'records of one key each': () =>
    `{"resources":[${Array.from({ length: 900_000 }, (_, at) => `{"key${at.toString(36)}":1}`).join()}]}`,
  'a text of 7.9 million backslash pairs': () => `{"resources":["${'\\\\'.repeat(7_900_000)}"]}`,
  'texts of a million characters': () => `{"resources":[${elements(`{"resource_id":"${'a'.repeat(1_000_000)}"}`)}]}`,
  '8 million numbers in a record': () => `{"resources":[[${elements('1')}]]}`,
  '8 million numbers': () => `{"resources":[${elements('1')}]}`,
  '5.5 million empty records': () => `{"resources":[${elements('{}')}]}`,
  'empty records on lines of their own': () => `{"resources":[${elements('{}\n')}]}`,
  'records that only have an ID': () =>
    `{"resources":[${Array.from({ length: 600_000 }, (_, at) => `{"resource_id":"${at}"}`).join()}]}`,
  'nested brackets': () => `{"resources":[${'['.repeat(PAGE_BYTES - 64)}`,
  'fields beside the records': () => `{${keys(900_000)},"resources":[]}`,
  whitespace: () => `{"resources":[${' '.repeat(PAGE_BYTES - 64)}]}`,
} as const;

/** Lines before the body. */
const HEADERS = {
  '20,000 header lines': () => 'a:\r\n'.repeat(20_000),
  '8,000 different header lines': () => Array.from({ length: 8000 }, (_, at) => `${at.toString(36)}:\r\n`).join(''),
} as const;

export type HostileShape = keyof typeof BODIES | keyof typeof HEADERS;

export const HOSTILE_SHAPES = [...Object.keys(BODIES), ...Object.keys(HEADERS)] as readonly HostileShape[];

/** The complete reply. */
export function hostileReply(shape: HostileShape): Buffer {
  const body = shape in BODIES ? BODIES[shape as keyof typeof BODIES]() : '{"resources":[]}';
  const lines = shape in HEADERS ? HEADERS[shape as keyof typeof HEADERS]() : '';
  const length = Buffer.byteLength(body);
  return Buffer.from(`HTTP/1.1 200 OK\r\n${lines}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`);
}
