import * as z from 'zod';
import { crossChecked } from './cross-check.ts';
import { filePath, headerSecret, headerValue } from './scalar-schemas.ts';

/** What HTTP allows as a header's name or an authentication scheme. */
export const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** These belong to the exporter and to its connection. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

const headerName = z
  .string()
  .regex(TOKEN, { error: 'the name of an HTTP header', abort: true })
  .refine((name) => !RESERVED.has(name.toLowerCase()), { error: 'the exporter sets this header itself, expected another one' });

const header = crossChecked(
  z.strictObject({
    values: z.array(headerValue).exactOptional().describe('Values that anyone may see.'),
    secrets: z.array(headerSecret).exactOptional().describe('Values that are never shown.'),
    files: z.array(filePath).exactOptional().describe('Files that hold values.'),
  }),
  function* (value) {
    const lists = [value.values, value.secrets, value.files];
    const empty = lists.every((list) => list === undefined || (Array.isArray(list) && list.length === 0));
    if (empty) yield { path: [], message: 'found no value, expected at least one in values, secrets or files' };
  },
);

export const httpHeaders = z.record(headerName, header);
