import { createHash, hash } from 'node:crypto';
import type { Page } from './page.ts';
import type { RunTask } from './page-json.ts';

interface CachedPage<Row> {
  readonly digest: string;
  readonly page: Page<Row>;
}

/** The pages of the previous listing: a page with the same bytes is not parsed again. */
export class PageCache<Row> {
  #pages: ReadonlyMap<string, CachedPage<Row>> = new Map();

  /** Runs a listing that reads its pages through the cache; afterwards the cache holds the pages of that listing only. */
  async reuse<T>(list: (read: ReadThrough<Row>) => Promise<T>): Promise<T> {
    const pages = new Map<string, CachedPage<Row>>();
    const listed = await list(async (path, body, run, read) => {
      const digest = await digestOf(body, run);
      const cached = this.#pages.get(path);
      const page = cached?.digest === digest ? cached.page : await read(body);
      pages.set(path, { digest, page });
      return page;
    });
    this.#pages = pages;
    return listed;
  }
}

/** Returns the cached page of this path if its bytes are the same, else reads it. */
type ReadThrough<Row> = (
  path: string,
  body: Uint8Array,
  run: RunTask,
  read: (body: Uint8Array) => Promise<Page<Row>>,
) => Promise<Page<Row>>;

/** Bytes hashed in one event-loop iteration. */
const HASHED_BYTES = 1024 * 1024;

async function digestOf(body: Uint8Array, run: RunTask): Promise<string> {
  if (body.length <= HASHED_BYTES) return run(() => hash('sha256', body, 'base64'));
  const digest = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED_BYTES) await run(() => digest.update(body.subarray(at, at + HASHED_BYTES)));
  return digest.digest('base64');
}
