/** Below this a page cannot be what was too large. */
const SMALLEST = 10;

/** How many records the pages of one refresh ask for; goes down when the service finds them too many, never up. */
export class PageSize {
  readonly #reduced: (size: number) => void;
  #most: number;

  constructor(most: number, reduced: (size: number) => void) {
    this.#most = most;
    this.#reduced = reduced;
  }

  atMost(wanted: number): number {
    return Math.min(wanted, this.#most);
  }

  /** What to ask for when so many were too many; undefined: no less. Pages side by side that fail alike reduce it once. */
  below(tooMany: number): number | undefined {
    if (tooMany <= SMALLEST) return undefined;
    if (tooMany <= this.#most) {
      this.#most = Math.max(SMALLEST, Math.floor(tooMany / 2));
      this.#reduced(this.#most);
    }
    return this.#most;
  }
}
