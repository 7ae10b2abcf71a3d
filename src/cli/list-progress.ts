import stringWidth from 'string-width';
import { printable } from '../text/records.ts';
import { countText } from '../text/words.ts';
import { CLEAR_LINE } from './log-output.ts';

interface ProgressOptions {
  readonly title: string;
  readonly write: (text: string) => void;
  /** undefined: not a terminal, so no progress is shown. */
  readonly columns: () => number | undefined;
  readonly nowMs?: () => number;
}

const PAINT_INTERVAL_MS = 50;

/** A progress line on the terminal, erased by `clear`. */
export class ListProgress {
  readonly #options: Required<ProgressOptions>;
  #pages = 0;
  #retries = 0;
  #paintedMs = 0;

  constructor(options: ProgressOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#paint();
  }

  pageReceived(): void {
    this.#pages += 1;
    if (this.#options.nowMs() - this.#paintedMs >= PAINT_INTERVAL_MS) this.#paint();
  }

  retried(): void {
    this.#retries += 1;
    this.#paint();
  }

  clear(): void {
    if (this.#options.columns() !== undefined) this.#options.write(CLEAR_LINE);
  }

  #paint(): void {
    const { columns, nowMs, write } = this.#options;
    const width = columns();
    this.#paintedMs = nowMs();
    // Some terminals wrap a line of full width; an unknown width counts as 80 columns.
    if (width !== undefined) write(`${CLEAR_LINE}${this.#line((width || 80) - 1)}`);
  }

  #line(width: number): string {
    const pages = countText(this.#pages, 'page');
    const count = this.#retries === 0 ? pages : `${pages}, ${countText(this.#retries, 'retry', 'retries')}`;
    const line = `${printable(this.#options.title)}: ${count}`;
    return stringWidth(line) <= width ? line : count.slice(0, width);
  }
}
