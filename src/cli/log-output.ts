/** Moves the cursor of a terminal to the start of its line and erases the line. */
export const CLEAR_LINE = '\r\u001b[K';

interface LogOutputOptions {
  /** Writes what fits without blocking and returns the number of bytes; throws like `fs.writeSync`. */
  readonly write: (bytes: Uint8Array) => number;
  readonly retryMs?: number;
}

/** The limit until the flags are known. */
const INITIAL_MAX_BYTES = 1024 * 1024;

/** Writes lines to stderr. A line that cannot be written is dropped and counted; lines for which there is no space yet wait, up to a limit. */
export class LogOutput {
  readonly #write: LogOutputOptions['write'];
  readonly #retryMs: number;
  /** Lines not yet written; of the first one a part may be. */
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #maxBytes = INITIAL_MAX_BYTES;
  #isPartial = false;
  /** The last line written was cut off, so the next one needs a line feed before it. */
  #isTorn = false;
  #dropped = 0;
  #unreported = 0;
  #timer: NodeJS.Timeout | undefined;
  #drained: (() => void)[] = [];
  #resumed: ((lines: number) => void) | undefined;

  constructor({ write, retryMs = 50 }: LogOutputOptions) {
    this.#write = write;
    this.#retryMs = retryMs;
  }

  /** Lines dropped since start. */
  get droppedLines(): number {
    return this.#dropped;
  }

  /** `resumed` is called with the number of lines dropped when lines can be written again. */
  configure(maxBytes: number, resumed: (lines: number) => void): void {
    this.#maxBytes = maxBytes;
    this.#resumed = resumed;
  }

  write(line: string): void {
    // No byte written would look like a busy reader.
    if (line === '') return;
    const bytes = Buffer.from(line);
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#flush();
    // The first line stays, however long: a part of it may be written.
    if (this.#queuedBytes > this.#maxBytes && this.#queue.length > 1) this.#drop(this.#queue.pop());
  }

  /** Resolves when every line was written or dropped, or after the time. */
  async drained(withinMs?: number): Promise<void> {
    if (this.#queue.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#drained.push(resolve);
      if (withinMs !== undefined) setTimeout(resolve, withinMs);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    let isWritten = false;
    for (let line = this.#queue[0]; line !== undefined; line = this.#queue[0]) {
      const result = this.#tryWrite(line);
      if (result === 'busy') {
        this.#timer = setTimeout(() => this.#flush(), this.#retryMs);
        return;
      }
      if (result === 'failed') {
        this.#isTorn ||= this.#isPartial;
        this.#isPartial = false;
        this.#drop(this.#queue.shift());
      } else if (result < line.length) {
        this.#isPartial = true;
        this.#queue[0] = line.subarray(result);
        this.#queuedBytes -= result;
      } else {
        this.#isPartial = false;
        this.#queuedBytes -= line.length;
        this.#queue.shift();
        isWritten = true;
      }
    }
    for (const resolve of this.#drained.splice(0)) resolve();
    if (isWritten) this.#reportDropped();
  }

  #tryWrite(line: Buffer): number | 'busy' | 'failed' {
    try {
      const written = this.#write(this.#isTorn ? Buffer.concat([LINE_FEED, line]) : line);
      if (written === 0) return 'busy';
      if (!this.#isTorn) return written;
      this.#isTorn = false;
      return written - 1;
    } catch (error) {
      return isBusy(error) ? 'busy' : 'failed';
    }
  }

  #drop(line: Buffer | undefined): void {
    this.#queuedBytes -= line?.length ?? 0;
    this.#dropped += 1;
    this.#unreported += 1;
  }

  #reportDropped(): void {
    const lines = this.#unreported;
    if (lines === 0 || this.#resumed === undefined) return;
    this.#unreported = 0;
    this.#resumed(lines);
  }
}

const LINE_FEED = Buffer.from('\n');

/** The reader of a pipe is slow, or a signal interrupted the write. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EINTR');
}
