import { isUtf8 } from 'node:buffer';

/** The text of UTF-8 bytes; throws an error that says where they are something else. */
export function utf8Text(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const latin1 = Buffer.from(bytes).toString('latin1');
  const line = latin1.split('\n').findIndex((text) => !isUtf8(Buffer.from(text, 'latin1'))) + 1;
  const found = /^(\xff\xfe|\xfe\xff)/.test(latin1) ? 'it is UTF-16' : `line ${line} is not UTF-8`;
  throw new Error(`${found}, expected a file that is saved as UTF-8`);
}
