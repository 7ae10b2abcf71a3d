import stringWidth from 'string-width';
import { printable } from '../inventory/records.ts';
import { countText } from '../inventory/words.ts';
import { CLEAR_LINE } from './log-output.ts';

/** A received page of the listing. */
interface ProgressPage {
  /** With the query, identifies a listing. */
  readonly rows: string;
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

/** Limits the repaint rate. */
const PAINT_INTERVAL_MS = 50;

/** A progress line on the terminal, erased by `clear`. */
export class ListProgress {
  readonly #options: Required<ProgressOptions>;
  readonly #listings = new Map<
    string,
    { readonly records: number; readonly largest: number; readonly total: number | undefined }
  >();
  #pages = 0;
  #retries = 0;
  #paintedMs = Number.NEGATIVE_INFINITY;
  #isPainted = false;

  constructor(options: ProgressOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#paint();
  }

  pageReceived({ rows, query, offset, received, total }: ProgressPage): void {
    const listing = JSON.stringify([rows, query]);
    const known = offset === 0 ? undefined : this.#listings.get(listing);
    this.#pages += 1;
    this.#listings.set(listing, {
      records: (known?.records ?? 0) + received,
      largest: Math.max(known?.largest ?? 1, received),
      total: total ?? known?.total,
    });
    this.#paint();
  }

  retried(): void {
    this.#retries += 1;
    // Retries are rare and explain the delay: show them at once.
    this.#paintedMs = Number.NEGATIVE_INFINITY;
    this.#paint();
  }

  clear(): void {
    if (this.#isPainted) this.#options.write(CLEAR_LINE);
    this.#isPainted = false;
  }

  #paint(): void {
    const { columns, nowMs, write } = this.#options;
    const width = columns();
    if (width === undefined || nowMs() - this.#paintedMs < PAINT_INTERVAL_MS) return;
    this.#paintedMs = nowMs();
    this.#isPainted = true;
    // Some terminals wrap a line of full width; an unknown width counts as 80 columns.
    write(`${CLEAR_LINE}${this.#line((width || 80) - 1)}`);
  }

  /** The title is omitted first. */
  #line(width: number): string {
    const expected = this.#expectedPages();
    const retries = this.#retries === 0 ? '' : `, ${countText(this.#retries, 'retry', 'retries')}`;
    const done = expected === undefined ? '' : `${this.#pages} of `;
    const count = `${done}${countText(expected ?? this.#pages, 'page')}${retries}`;
    const line = `${printable(this.#options.title)}: ${count}`;
    return stringWidth(line) <= width ? line : count.slice(0, width);
  }

  /** undefined until every listing has reported its total. */
  #expectedPages(): number | undefined {
    const listings = [...this.#listings.values()];
    if (listings.length < this.#options.listings) return undefined;
    let further = 0;
    for (const { records, largest, total } of listings) {
      if (total === undefined) return undefined;
      further += Math.ceil(Math.max(0, total - records) / largest);
    }
    return this.#pages + further;
  }
}
