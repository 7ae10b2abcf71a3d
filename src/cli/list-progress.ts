import stringWidth from 'string-width';
import { printable } from './table.ts';

/** As much of a page as progress shows. */
interface ProgressPage {
  /** Which of the station's listings it belongs to. */
  readonly listing: string;
  readonly offset: number;
  readonly received: number;
  readonly total: number | undefined;
}

interface ProgressOptions {
  readonly station: string;
  /** How many listings a snapshot takes. */
  readonly listings: number;
  readonly write: (text: string) => void;
  /** undefined: no terminal, so nothing is shown. */
  readonly columns: () => number | undefined;
  readonly nowMs?: () => number;
}

/** More often than this no eye follows. */
const PAINT_EVERY_MS = 50;
const WIDEST_BAR = 40;
const NARROWEST_BAR = 10;
const CLEAR = '\r\u001b[K';

/** One line of a terminal that tells how far a snapshot has come, and leaves no trace. */
export class ListProgress {
  readonly #options: Required<ProgressOptions>;
  readonly #listings = new Map<string, { readonly records: number; readonly largest: number; readonly total: number | undefined }>();
  #pages = 0;
  #retries = 0;
  #paintedMs = Number.NEGATIVE_INFINITY;
  #isPainted = false;

  constructor(options: ProgressOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#paint();
  }

  pageReceived({ listing, offset, received, total }: ProgressPage): void {
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
    // Rare, and the news that somebody who waits is after.
    this.#paintedMs = Number.NEGATIVE_INFINITY;
    this.#paint();
  }

  clear(): void {
    if (this.#isPainted) this.#options.write(CLEAR);
    this.#isPainted = false;
  }

  #paint(): void {
    const { columns, nowMs, write } = this.#options;
    const width = columns();
    if (width === undefined || nowMs() - this.#paintedMs < PAINT_EVERY_MS) return;
    this.#paintedMs = nowMs();
    this.#isPainted = true;
    // A line as wide as the terminal would wrap in some; one of unknown width is taken for a common one.
    write(`${CLEAR}${this.#line((width || 80) - 1)}`);
  }

  #line(width: number): string {
    const expected = this.#expectedPages();
    const count =
      expected === undefined ? counted(this.#pages, 'page', 'pages') : `${this.#pages} of ${counted(expected, 'page', 'pages')}`;
    const retries = this.#retries === 0 ? '' : `, ${counted(this.#retries, 'retry', 'retries')}`;
    const told = `${printable(this.#options.station)}: ${count}${retries}`;
    const space = Math.min(WIDEST_BAR, width - stringWidth(told) - 3);
    if (space < -3) return `${count}${retries}`.slice(0, width);
    if (expected === undefined || space < NARROWEST_BAR) return told;
    const done = Math.round((space * this.#pages) / expected);
    return `${told} [${'#'.repeat(done)}${'.'.repeat(space - done)}]`;
  }

  /** undefined while a listing has not begun or does not tell its total. */
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

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
