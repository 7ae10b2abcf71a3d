import { createCipheriv, randomBytes } from 'node:crypto';
import type { Page } from '../protocol/page.ts';
import type { RunTask } from '../protocol/page-json.ts';

/** Pages by their paths, each with the digest of its bytes. */
export type CachedPages<Row> = ReadonlyMap<string, { readonly digest: string; readonly page: Page<Row> }>;

/** Reads the pages of one listing. A page whose bytes did not change since the listing before is not parsed again, and stays the same object. */
export class PageCache<Row> {
  readonly #before: CachedPages<Row>;
  readonly #pages = new Map<string, { digest: string; page: Page<Row> }>();

  constructor(before: CachedPages<Row> = new Map()) {
    this.#before = before;
  }

  /** The pages read. */
  get pages(): CachedPages<Row> {
    return this.#pages;
  }

  /** `parse` gets the page of the listing before. */
  async read(
    path: string,
    body: Uint8Array,
    run: RunTask,
    parse: (before: Page<Row> | undefined) => Promise<Page<Row>>,
  ): Promise<Page<Row>> {
    const digest = await digestOf(body, run);
    const before = this.#before.get(path);
    const page = before?.digest === digest ? before.page : await parse(before?.page);
    this.#pages.set(path, { digest, page });
    return page;
  }
}

/** Bytes digested in one event-loop iteration. */
const SLICE_BYTES = 1024 * 1024;

/** Valid in this process only: digests are compared and never shown. */
const DIGEST_KEY = randomBytes(16);
const DIGEST_NONCE = Buffer.alloc(12);

/** The authentication tag of AES-GCM over the bytes: two pages have the same one as rarely as the same hash, at a third of the cost of SHA-256. */
async function digestOf(body: Uint8Array, run: RunTask): Promise<string> {
  const cipher = createCipheriv('aes-128-gcm', DIGEST_KEY, DIGEST_NONCE);
  for (let at = 0; at === 0 || at < body.length; at += SLICE_BYTES)
    await run(() => cipher.setAAD(body.subarray(at, at + SLICE_BYTES)));
  cipher.final();
  return cipher.getAuthTag().toString('base64');
}
