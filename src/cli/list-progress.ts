import stringWidth from 'string-width';
import { printable } from '../text/records.ts';
import { countText } from '../text/words.ts';
import { CLEAR_LINE } from './log-output.ts';

/** A received page of the listing. */
interface ProgressPage {
  /** With the query, identifies a listing. */
  readonly kind: string;
  readonly query: object;
  readonly offset: number;
  readonly received: number;
  readonly total: number | undefined;
}

interface ProgressOptions {
  /** What is listed: a station, or their number. */
  readonly title: string;
  readonly listings: number;
  readonly write: (text: string) => void;
  /** undefined: not a terminal, so no progress is shown. */
  readonly columns: () => number | undefined;
  readonly nowMs?: () => number;
}

/** Limits the repaint rate while pages arrive. */
const PAINT_INTERVAL_MS = 50;

/** A progress line on the terminal, erased by `clear`. */
export class ListProgress {
  readonly #options: Required<ProgressOptions>;
  /** NaN records remain where the total is unknown. */
  readonly #listings = new Map<string, { readonly remaining: number; readonly pageSize: number }>();
  #pages = 0;
  #retries = 0;
  #paintedMs = 0;

  constructor(options: ProgressOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#paint();
  }

  pageReceived({ kind, query, offset, received, total = Number.NaN }: ProgressPage): void {
    const listing = JSON.stringify([kind, query]);
    const known = offset === 0 ? undefined : this.#listings.get(listing);
    const { remaining, pageSize } = known ?? { remaining: total, pageSize: Math.max(received, 1) };
    this.#listings.set(listing, { remaining: remaining - received, pageSize });
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

  /** The title is omitted first. */
  #line(width: number): string {
    const further = this.#furtherPages();
    const done = Number.isNaN(further) ? '' : `${this.#pages} of `;
    const retries = this.#retries === 0 ? '' : `, ${countText(this.#retries, 'retry', 'retries')}`;
    const count = `${done}${countText(this.#pages + (further || 0), 'page')}${retries}`;
    const line = `${printable(this.#options.title)}: ${count}`;
    return stringWidth(line) <= width ? line : count.slice(0, width);
  }

  /** NaN until every listing has reported its total. */
  #furtherPages(): number {
    let further = this.#listings.size < this.#options.listings ? Number.NaN : 0;
    for (const { remaining, pageSize } of this.#listings.values())
      further += Math.ceil(Math.max(remaining, 0) / pageSize);
    return further;
  }
}
