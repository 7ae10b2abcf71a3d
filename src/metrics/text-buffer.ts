import { GrowableBuffer } from '../model/growable-buffer.ts';

/** Several times what a block of resources needs, unless its texts are very long. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** UTF-8 texts with names, written into one reused buffer. */
export class TextBuffer {
  readonly #buffer = new GrowableBuffer();
  #starts = new Map<string, number>();

  clear(): void {
    this.#buffer.release(MAX_KEPT_BYTES);
    this.#starts = new Map();
  }

  /** Starts the text of this name; `add` appends to it. */
  begin(name: string): void {
    this.#starts.set(name, this.#buffer.length);
  }

  add(text: string): void {
    this.#buffer.write(text);
  }

  /** The texts that are not empty, valid until the buffer is cleared. */
  texts(): ReadonlyMap<string, Uint8Array> {
    const ends = [...this.#starts.values()].slice(1);
    const texts = Array.from(this.#starts, ([name, start], at) => [name, this.#buffer.bytes(start, ends[at])] as const);
    return new Map(texts.filter(([, bytes]) => bytes.length > 0));
  }
}
