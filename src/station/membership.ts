import type { Listing, Part } from './listing.ts';

/** The ids that the latest of several listings held. */
export class Membership {
  #parts: readonly Part<string>[] = [];
  #ids: ReadonlySet<string> = new Set();
  #complete = false;

  /** Whether the listing tells of any id something else than the one before. */
  update({ parts, complete }: Listing<string>): boolean {
    const isSame =
      complete === this.#complete && parts.length === this.#parts.length && parts.every((part, at) => part === this.#parts[at]);
    if (isSame) return false;
    this.#parts = parts;
    this.#complete = complete;
    this.#ids = new Set(parts.flat());
    return true;
  }

  get complete(): boolean {
    return this.#complete;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
