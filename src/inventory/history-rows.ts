import { FAILURE_REASONS, type FailureReason } from '../model/failure.ts';

/** How a refresh ended, from the best to the worst: an incomplete listing is served, a postponed refresh leaves the station as it was. */
export const OUTCOMES = ['succeeded', 'incomplete', 'postponed', 'failed'] as const;

type Outcome = (typeof OUTCOMES)[number];

/** Numbers of a row, stored in 32 bits each; an absent one is unknown. */
const COUNTS = ['durationMs', 'pages', 'resources', 'firing', 'added', 'removed', 'stateChanges'] as const;

export type Count = (typeof COUNTS)[number];

/** A refresh, or several; values that do not fit into the bytes of their field are bounded. */
export interface Row extends Readonly<Partial<Record<Count, number>>> {
  /** In whole seconds. */
  readonly atMs: number;
  /** In whole seconds. */
  readonly waitedMs: number;
  /** At most MAX_REFRESHES. */
  readonly refreshes: number;
  readonly failed: number;
  readonly outcome: Outcome;
  readonly reason: FailureReason | undefined;
  /** The number of its message, at most 255; 0: none. */
  readonly message: number;
}

/** The maximum of a byte. */
export const MAX_REFRESHES = 0xff;

const UNKNOWN = 0xffff_ffff;

/** Byte offsets of the fields of a row. */
const AT = { seconds: 0, counts: 4, waited: 32, refreshes: 34, failed: 35, outcome: 36, message: 37, end: 38 } as const;

const FIRST_ROWS = 8;

/** A ring of rows in one buffer, which is a third of the size of objects and grows as needed. */
export class Rows {
  readonly #capacity: number;
  #view = new DataView(new ArrayBuffer(0));
  #first = 0;
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  last(): Row | undefined {
    return this.#length === 0 ? undefined : this.#read(this.#length - 1);
  }

  newestFirst(): readonly Row[] {
    return Array.from({ length: this.#length }, (_, age) => this.#read(this.#length - 1 - age));
  }

  /** Returns the oldest row if it was removed because the ring is full. */
  push(row: Row): Row | undefined {
    const removed = this.#length === this.#capacity ? this.#shift() : undefined;
    if (this.#length === this.#allocated) this.#grow();
    this.#length += 1;
    this.replaceLast(row);
    return removed;
  }

  replaceLast(row: Row): void {
    const view = this.#view;
    const start = this.#start(this.#length - 1);
    view.setUint32(start + AT.seconds, bounded(Math.floor(row.atMs / 1000), UNKNOWN));
    for (const [column, key] of COUNTS.entries()) {
      const count = row[key];
      view.setUint32(start + AT.counts + 4 * column, count === undefined ? UNKNOWN : bounded(count, UNKNOWN - 1));
    }
    view.setUint16(start + AT.waited, bounded(row.waitedMs / 1000, 0xffff));
    view.setUint8(start + AT.refreshes, row.refreshes);
    view.setUint8(start + AT.failed, row.failed);
    view.setUint8(start + AT.outcome, outcomeCode(row));
    view.setUint8(start + AT.message, row.message);
  }

  /** Removes the message from all rows, so that its number can be used again. */
  forgetMessage(message: number): void {
    for (let index = 0; index < this.#length; index += 1) {
      const at = this.#start(index) + AT.message;
      if (this.#view.getUint8(at) === message) this.#view.setUint8(at, 0);
    }
  }

  get #allocated(): number {
    return this.#view.byteLength / AT.end;
  }

  #start(index: number): number {
    return ((this.#first + index) % this.#allocated) * AT.end;
  }

  #read(index: number): Row {
    const view = this.#view;
    const start = this.#start(index);
    const counts = COUNTS.map((key, column) => [key, view.getUint32(start + AT.counts + 4 * column)] as const);
    return {
      atMs: view.getUint32(start + AT.seconds) * 1000,
      waitedMs: view.getUint16(start + AT.waited) * 1000,
      refreshes: view.getUint8(start + AT.refreshes),
      failed: view.getUint8(start + AT.failed),
      ...outcomeOf(view.getUint8(start + AT.outcome)),
      message: view.getUint8(start + AT.message),
      ...Object.fromEntries(counts.filter(([, count]) => count !== UNKNOWN)),
    };
  }

  #shift(): Row {
    const row = this.#read(0);
    this.#first = (this.#first + 1) % this.#allocated;
    this.#length -= 1;
    return row;
  }

  /** A ring below its capacity begins at the start of the buffer. */
  #grow(): void {
    const bytes = new Uint8Array(Math.min(Math.max(2 * this.#allocated, FIRST_ROWS), this.#capacity) * AT.end);
    bytes.set(new Uint8Array(this.#view.buffer));
    this.#view = new DataView(bytes.buffer);
  }
}

function bounded(value: number, max: number): number {
  return Math.min(Math.max(Math.round(value), 0), max);
}

/** Exceeds the number of reasons. */
const CODES_PER_OUTCOME = 16;

function outcomeCode({ outcome, reason }: Pick<Row, 'outcome' | 'reason'>): number {
  const reasonCode = reason === undefined ? 0 : 1 + FAILURE_REASONS.indexOf(reason);
  return OUTCOMES.indexOf(outcome) * CODES_PER_OUTCOME + reasonCode;
}

function outcomeOf(code: number): Pick<Row, 'outcome' | 'reason'> {
  return {
    outcome: OUTCOMES[Math.floor(code / CODES_PER_OUTCOME)] as Outcome,
    reason: FAILURE_REASONS[(code % CODES_PER_OUTCOME) - 1],
  };
}
