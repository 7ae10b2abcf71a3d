/** Enough for the types, states and skus of real stations; with more, the table is cleared and starts again. */
const MAX_TEXTS = 10_000;

/** Keeps one copy of texts that many resources share. */
export class InternedTexts {
  readonly #texts = new Map<string, string>();

  intern(text: string): string {
    const interned = this.#texts.get(text);
    if (interned !== undefined) return interned;
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
