/** A byte buffer that is reused and grows as needed, so that steady use allocates no memory. */
export class GrowableBuffer {
  #buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Discards the content and reserves space for the expected number of bytes. */
  clear(expected = 0): void {
    this.#length = 0;
    this.#reserve(expected);
  }

  /** Discards the content, and frees the memory if it exceeds `maxKept` bytes: one large use must not hold it for good. */
  release(maxKept: number): void {
    this.#length = 0;
    if (this.#buffer.length > maxKept) this.#buffer = Buffer.allocUnsafeSlow(0);
  }

  append(chunk: Uint8Array): void {
    this.#reserve(this.#length + chunk.length);
    this.#buffer.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** A view, not a copy: valid until the next `clear` or `append`. */
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
