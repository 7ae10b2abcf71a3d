import { promisify } from 'node:util';
import { constants, createGunzip, gunzip } from 'node:zlib';
import { cutReply, type Reply, RequestFailure } from '../request-failure.ts';

/** The body of a page. */
export interface PageBody {
  /** As they came, valid until the page is read: those of an unchanged page are the same, and need not be unpacked. */
  readonly bytes: Uint8Array;
  /** Without their coding. Rejects with a RequestFailure. */
  plain(): Promise<Uint8Array>;
}

/** The codings of a body, without those that change nothing; '' if it is plain. */
export function contentCoding(headers: Reply['headers']): string {
  const codings = String(headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',');
  const changing = codings.map((coding) => coding.trim()).filter((coding) => !['', 'identity'].includes(coding));
  return changing.map((coding) => (coding === 'x-gzip' ? 'gzip' : coding)).join(', ');
}

interface BodyLimit {
  /** The name of the server in messages. */
  readonly name: string;
  readonly maxBytes: number;
}

/** The body of a reply that is plain or gzip. An empty one is empty whatever its coding. */
export function pageBody({ headers, body }: Pick<Reply, 'headers' | 'body'>, limit: BodyLimit): PageBody {
  const isPacked = contentCoding(headers) !== '' && body.length > 0;
  return { bytes: body, plain: async () => (isPacked ? unpacked(body, limit) : body) };
}

export function tooLarge({ name, maxBytes }: BodyLimit): RequestFailure {
  return new RequestFailure('body', `${name}: body is larger than ${maxBytes} bytes`);
}

const unpack = promisify(gunzip);

const MIN_CHUNK_BYTES = 16 * 1024;

/** Off the event loop, and no more than the limit. */
async function unpacked(body: Buffer, limit: BodyLimit): Promise<Uint8Array> {
  const { name, maxBytes } = limit;
  // With room for the whole page, there is one turn of the thread pool and no copy. A wrong size at the end of gzip only costs more turns.
  const size = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4);
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(size, maxBytes) + 1);
  try {
    return await unpack(body, { chunkSize, maxOutputLength: maxBytes });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    if (code === 'Z_BUF_ERROR') throw cutReply(body.length);
    throw new RequestFailure('body', `${name}: the body is not gzip, as its content-encoding says: ${message}`, {
      cause,
    });
  }
}

/** So much of the text of an error reply, also if it is cut; undefined if it is not gzip. */
export async function unpackedStart(body: Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const stream = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: maxBytes });
  stream.end(body);
  try {
    for await (const chunk of stream) return chunk;
    return Buffer.alloc(0);
  } catch {
    return undefined;
  }
}
