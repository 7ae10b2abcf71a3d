import { GrowableBuffer } from '../station/growable-buffer.ts';

/** UTF-8 text in named pieces, written into one reused buffer. */
export class TextBuffer {
  readonly #buffer = new GrowableBuffer();
  #starts = new Map<string, number>();

  clear(): void {
    this.#buffer.clear();
    this.#starts = new Map();
  }

  /** Text added from now on belongs to the piece of this name. */
  begin(piece: string): void {
    this.#starts.set(piece, this.#buffer.length);
  }

  add(text: string): void {
    this.#buffer.write(text);
  }

  /** The pieces that are not empty, valid until the buffer is cleared. */
  pieces(): ReadonlyMap<string, Uint8Array> {
    const ends = [...this.#starts.values()].slice(1);
    const pieces = Array.from(this.#starts, ([name, start], at) => [name, this.#buffer.bytes(start, ends[at])] as const);
    return new Map(pieces.filter(([, bytes]) => bytes.length > 0));
  }
}
