import type { Writable } from 'node:stream';

/** Moves the cursor of a terminal to the start of its line, and erases the line. */
export const CLEAR_LINE = '\r\u001b[K';

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Writes lines to a stream that may be slow or fail: a line for which there is no space, or that fails, is dropped and counted. */
export class LogOutput {
  readonly #stream: Writable;
  readonly #maxBufferedBytes: number;
  #dropped = 0;
  #resumed: ((lines: number) => void) | undefined;

  constructor(stream: Writable, maxBufferedBytes = MAX_BUFFERED_BYTES) {
    this.#stream = stream;
    this.#maxBufferedBytes = maxBufferedBytes;
    // The callback of each write gets the error. Node's own warnings are written to the stream, too.
    stream.on('error', () => undefined);
  }

  /** `resumed` is called with the number of lines dropped when lines can be written again. */
  onResumed(resumed: (lines: number) => void): void {
    this.#resumed = resumed;
  }

  write(line: string): void {
    const { writableLength } = this.#stream;
    // However long, a line is written while no other waits.
    if (writableLength > 0 && writableLength + Buffer.byteLength(line) > this.#maxBufferedBytes) {
      this.#dropped += 1;
      return;
    }
    this.#stream.write(line, (error) => {
      if (error) this.#dropped += 1;
      else this.#reportDropped();
    });
  }

  async drained(withinMs?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#stream.write('', () => resolve());
      if (withinMs !== undefined) setTimeout(resolve, withinMs);
    });
  }

  #reportDropped(): void {
    const lines = this.#dropped;
    if (lines === 0 || this.#resumed === undefined) return;
    this.#dropped = 0;
    this.#resumed(lines);
  }
}
