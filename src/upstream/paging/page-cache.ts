import { createCipheriv, randomBytes } from 'node:crypto';
import { hasSameRecords, type Page } from '../protocol/page.ts';
import type { RunTask } from '../protocol/page-json.ts';

interface PageRange {
  readonly offset: number;
  readonly size: number;
}

interface CachedPage<Row> extends PageRange {
  readonly digest: string;
  readonly page: Page<Row>;
  /** Monotonic. */
  readonly receivedMs: number;
}

type CachedPages<Row> = Map<string, CachedPage<Row>>;

interface AttemptOptions {
  /** Up to which age the pages of the attempt before need not be requested again; undefined: they are. */
  readonly reuseMs: number | undefined;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** The pages of a listing that were received before, by their paths. */
export class PageCache<Row> {
  /** Those of the latest listing that succeeded. */
  #listed: CachedPages<Row> = new Map();
  /** Those of the latest attempt, and those that it could have reused. */
  #latest: readonly CachedPages<Row>[] = [];

  /** The next attempt reuses nothing. */
  forget(): void {
    this.#latest = [];
  }

  /** Runs an attempt to read the listing through the cache. */
  async list<T>(
    { reuseMs = -1, nowMs }: AttemptOptions,
    list: (attempt: ListingAttempt<Row>) => Promise<T>,
  ): Promise<T> {
    const isYoung = ({ receivedMs }: CachedPage<Row>) => nowMs() - receivedMs <= reuseMs;
    const reusable = new Map(this.#latest.flatMap((pages) => [...pages]).filter(([, page]) => isYoung(page)));
    const used: CachedPages<Row> = new Map();
    this.#latest = [reusable, used];
    const listing = await list(new ListingAttempt({ listed: this.#listed, reusable, used, isYoung, nowMs }));
    this.#listed = used;
    this.#latest = [used];
    return listing;
  }
}

interface AttemptPages<Row> {
  readonly listed: CachedPages<Row>;
  readonly reusable: CachedPages<Row>;
  readonly used: CachedPages<Row>;
  readonly isYoung: (page: CachedPage<Row>) => boolean;
  readonly nowMs: () => number;
}

/** One attempt to read a listing: knows pages that need not be parsed, or not even requested. */
export class ListingAttempt<Row> {
  readonly #pages: AttemptPages<Row>;
  #isStarted = false;

  constructor(pages: AttemptPages<Row>) {
    this.#pages = pages;
  }

  /**
   * Starts a pass with its first page. Pages are reused in the first pass only, and only while the first page and the total are the same.
   * Returns a further page that must be the same: rows that were replaced since then would move it, and leave the total as it is.
   */
  start(path: string, first: Page<Row>, idOf: (row: Row) => string): PageRange | undefined {
    const { reusable, used, isYoung } = this.#pages;
    if (this.#isStarted) for (const other of used.keys()) if (other !== path) used.delete(other);
    if (this.#isStarted) reusable.clear();
    this.#isStarted = true;
    this.check(path, first, idOf);
    // Without a total, pages overlap: each of them is checked.
    if (first.total === undefined) return undefined;
    const further = [...reusable.values()].filter((page) => page.offset > 0 && page.page.received > 0 && isYoung(page));
    return further.reduce<PageRange | undefined>(
      (last, page) => (last && last.offset > page.offset ? last : page),
      undefined,
    );
  }

  /** Reuses no page if this one, as received now, is not the same. */
  check(path: string, received: Page<Row>, idOf: (row: Row) => string): void {
    const { reusable, used } = this.#pages;
    const before = reusable.get(path)?.page;
    const isSame = before !== undefined && hasSameRecords(before, received, idOf);
    for (const [other, { page }] of reusable) if (!isSame || page.total !== received.total) reusable.delete(other);
    const now = used.get(path);
    if (now) reusable.set(path, now);
  }

  /** The page that an earlier attempt received. */
  reuse(path: string): Page<Row> | undefined {
    const { reusable, used, isYoung } = this.#pages;
    const page = reusable.get(path);
    if (page === undefined || !isYoung(page)) return undefined;
    used.set(path, page);
    return page.page;
  }

  /** Returns the page of the listing before if its bytes are the same, else reads it. */
  async read(path: string, range: PageRange, body: Uint8Array, run: RunTask, read: ReadBody<Row>): Promise<Page<Row>> {
    const { listed, used, nowMs } = this.#pages;
    const digest = await digestOf(body, run);
    const before = listed.get(path);
    const page = before?.digest === digest ? before.page : await read(body, before?.page.rows ?? []);
    used.set(path, { ...range, digest, page, receivedMs: nowMs() });
    return page;
  }
}

type ReadBody<Row> = (body: Uint8Array, before: readonly Row[]) => Promise<Page<Row>>;

/** Bytes digested in one event-loop iteration. */
const SLICE_BYTES = 1024 * 1024;

/** Of this process only: digests are compared and never shown. */
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
