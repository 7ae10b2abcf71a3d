import { hash } from 'node:crypto';
import type { Page } from './page.ts';

interface KnownPage<Row> {
  readonly digest: string;
  readonly page: Page<Row>;
}

/** The pages of a listing as they were last time: one whose bytes are the same is not read again. */
export class PageMemory<Row> {
  #known: ReadonlyMap<string, KnownPage<Row>> = new Map();

  /** Runs one listing over what is known, and knows afterwards what that listing held and nothing else. */
  async listing<T>(list: (read: ReadThrough<Row>) => Promise<T>): Promise<T> {
    const seen = new Map<string, KnownPage<Row>>();
    const listed = await list((place, body, read) => {
      const digest = hash('sha256', body, 'base64');
      const known = this.#known.get(place);
      const page = known?.digest === digest ? known.page : read(body);
      seen.set(place, { digest, page });
      return page;
    });
    this.#known = seen;
    return listed;
  }
}

/** Reads a page by its place in the listing, or gives it back as it was read before. */
export type ReadThrough<Row> = (place: string, body: Uint8Array, read: (body: Uint8Array) => Page<Row>) => Page<Row>;
