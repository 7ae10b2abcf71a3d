/** What one UTF-16 unit can take at most as UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Room for the bytes of some texts, each in one piece; it is used again for the next ones, so that writing allocates nothing in the long run. */
export class TextBuffer {
  #bytes = Buffer.allocUnsafeSlow(0);
  #length = 0;
  #starts = new Map<string, number>();

  clear(): void {
    this.#length = 0;
    this.#starts = new Map();
  }

  /** What is added from here on belongs to the piece of that name. */
  begin(piece: string): void {
    this.#starts.set(piece, this.#length);
  }

  add(text: string): void {
    this.#reserve(this.#length + text.length * MAX_BYTES_PER_UNIT);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** The pieces that were given any text, valid until the buffer is cleared. */
  pieces(): ReadonlyMap<string, Uint8Array> {
    const ends = [...this.#starts.values()].slice(1);
    const pieces = Array.from(this.#starts, ([name, start], at) => [name, this.#bytes.subarray(start, ends[at] ?? this.#length)] as const);
    return new Map(pieces.filter(([, bytes]) => bytes.length > 0));
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(size, this.#bytes.length * 2));
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
  }
}
