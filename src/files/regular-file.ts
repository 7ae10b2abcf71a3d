import { createReadStream } from 'node:fs';
import { constants, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/** The maximum size of a secret, certificate or key. */
const MAX_SECRET_BYTES = 1024 * 1024;

/** Enough for a few hundred thousand stations. */
export const MAX_CONFIG_BYTES = 64 * 1024 * 1024;

/**
 * The content of a file that ends. Reading a pipe without a writer never ends: it would block a thread of the pool, and a reload or
 * the credentials of an upstream would wait for it.
 */
export async function readRegularFile(file: string, maxBytes = MAX_SECRET_BYTES): Promise<Buffer> {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() && !found.isDirectory()) throw new Error('not a regular file');
    return await bounded(handle.createReadStream({ end: maxBytes, autoClose: false }), maxBytes);
  } finally {
    await handle.close();
  }
}

/** A text, or the reason why it cannot be read. */
export type FileContent =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: NodeJS.ErrnoException };

/** As `readRegularFile`, for callers that report the error. */
export async function contentOf(file: string, maxBytes?: number, read = readRegularFile): Promise<FileContent> {
  try {
    return { ok: true, text: (await read(file, maxBytes)).toString() };
  } catch (error) {
    return { ok: false, error: error as NodeJS.ErrnoException };
  }
}

/** The content of a file or pipe: standard input, a process that the shell substitutes, or a tool that decrypts the file. */
export async function readFileOrPipe(file: string, maxBytes = MAX_SECRET_BYTES): Promise<Buffer> {
  return bounded(createReadStream(file, { end: maxBytes }), maxBytes);
}

/** Reads a stream that ends one byte beyond the limit at the latest. */
async function bounded(stream: Readable, maxBytes: number): Promise<Buffer> {
  const content = await buffer(stream);
  if (content.length > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
  return content;
}
