/** Room for one body after the other: it grows to the largest, so that reading pages allocates nothing in the long run. */
export class GrowableBuffer {
  #buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Forgets what it holds and makes buffer for so many bytes. */
  begin(expected: number): void {
    this.#length = 0;
    this.#reserve(expected);
  }

  append(chunk: Uint8Array): void {
    this.#reserve(this.#length + chunk.length);
    this.#buffer.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** Valid until the next `begin`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return;
    const buffer = Buffer.allocUnsafeSlow(Math.max(size, this.#buffer.length * 2));
    this.#buffer.copy(buffer, 0, 0, this.#length);
    this.#buffer = buffer;
  }
}
