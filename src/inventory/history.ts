import type { FailureReason } from '../model/failure.ts';
import { type Count, MAX_REFRESHES, OUTCOMES, type Row, Rows } from './history-rows.ts';

/** A refresh that ended, or several of one minute. An absent number is unknown. */
export interface HistoryEntry extends Pick<Row, 'refreshes' | 'failed' | 'outcome'> {
  /** Wall time of the end of the latest one, in whole seconds. Times decrease where the wall clock was set back. */
  readonly atMs: number;
  /** Of the latest one with this outcome, which is the worst of them. */
  readonly failure?: { readonly reason: FailureReason; readonly message: string };
  /** The longest wait for the upstream's capacity, and the longest duration. */
  readonly waitedMs: number;
  readonly durationMs?: number;
  /** Of the latest listing. */
  readonly pages?: number;
  readonly resources?: number;
  readonly firing?: number;
  /** Of all together. */
  readonly added?: number;
  readonly removed?: number;
  readonly stateChanges?: number;
}

/** Refreshes that are kept one by one. */
const RECENT = 60;

/** A day. */
const MINUTES = 24 * 60;

export const MINUTE_MS = 60_000;

/**
 * The refreshes of a station in the order in which they ended. Those that are no longer recent are merged by minute: a day fits into
 * 64 KB whatever the ttl is, and a single failure in a minute stays visible. An instance is small until it has content.
 */
export class History {
  readonly #recent = new Rows(RECENT);
  readonly #minutes = new Rows(MINUTES);
  readonly #messages = new Messages((message) => {
    this.#recent.forgetMessage(message);
    this.#minutes.forgetMessage(message);
  });
  #refreshes = 0;

  /** How many refreshes were added, also those that are no longer kept. */
  get refreshes(): number {
    return this.#refreshes;
  }

  add({ failure, ...entry }: HistoryEntry): void {
    this.#refreshes += entry.refreshes;
    const message = failure === undefined ? 0 : this.#messages.numberOf(failure.message);
    const removed = this.#recent.push({ ...entry, reason: failure?.reason, message });
    if (removed !== undefined) this.#keepByMinute(removed);
  }

  latest(): HistoryEntry | undefined {
    const row = this.#recent.last();
    return row && this.#entry(row);
  }

  newestFirst(): readonly HistoryEntry[] {
    return [...this.#recent.newestFirst(), ...this.#minutes.newestFirst()].map((row) => this.#entry(row));
  }

  #keepByMinute(row: Row): void {
    const last = this.#minutes.last();
    if (last && isSameMinute(last, row)) this.#minutes.replaceLast(merged(last, row));
    else this.#minutes.push(row);
  }

  #entry({ reason, message, ...entry }: Row): HistoryEntry {
    return reason === undefined ? entry : { ...entry, failure: { reason, message: this.#messages.text(message) } };
  }
}

function isSameMinute(a: Row, b: Row): boolean {
  return (
    Math.floor(a.atMs / MINUTE_MS) === Math.floor(b.atMs / MINUTE_MS) && a.refreshes + b.refreshes <= MAX_REFRESHES
  );
}

function merged(older: Row, newer: Row): Row {
  const { outcome, reason, message } =
    OUTCOMES.indexOf(older.outcome) > OUTCOMES.indexOf(newer.outcome) ? older : newer;
  return {
    ...older,
    ...newer,
    ...{ outcome, reason, message },
    refreshes: older.refreshes + newer.refreshes,
    failed: older.failed + newer.failed,
    waitedMs: Math.max(older.waitedMs, newer.waitedMs),
    ...combined(['durationMs'], older, newer, Math.max),
    ...combined(['added', 'removed', 'stateChanges'], older, newer, (a, b) => a + b),
  };
}

/** The numbers that both rows have. */
function combined(keys: readonly Count[], a: Row, b: Row, combine: (a: number, b: number) => number): Partial<Row> {
  const pairs = keys.flatMap((key) => {
    const [left, right] = [a[key], b[key]];
    return left === undefined || right === undefined ? [] : [[key, combine(left, right)]];
  });
  return Object.fromEntries(pairs);
}

const MAX_MESSAGES = 24;
const MAX_CHARACTERS = 2400;
const MAX_MESSAGE_CHARACTERS = 400;

/** The messages that were used last, numbered from 1. A service may send another one each time, so that the oldest are forgotten. */
class Messages {
  /** The one that was used last at the end. */
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  readonly #forgotten: (number: number) => void;
  #characters = 0;

  constructor(forgotten: (number: number) => void) {
    this.#forgotten = forgotten;
  }

  text(number: number): string {
    return this.#texts.get(number) ?? '';
  }

  numberOf(message: string): number {
    const text = shortened(message);
    const number = this.#numbers.get(text) ?? this.#add(text);
    this.#numbers.delete(text);
    this.#numbers.set(text, number);
    return number;
  }

  #add(text: string): number {
    this.#characters += text.length;
    for (const [oldest, number] of this.#numbers) {
      if (this.#numbers.size < MAX_MESSAGES && this.#characters <= MAX_CHARACTERS) break;
      this.#numbers.delete(oldest);
      this.#texts.delete(number);
      this.#characters -= oldest.length;
      this.#forgotten(number);
    }
    let number = 1;
    while (this.#texts.has(number)) number += 1;
    this.#texts.set(number, text);
    return number;
  }
}

/** A copy, because V8 keeps a string in memory as long as a slice of it. */
function shortened(message: string): string {
  // Without half of a surrogate pair at the end.
  const start = message.slice(0, MAX_MESSAGE_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '');
  const text = message.length <= MAX_MESSAGE_CHARACTERS ? message : `${start}…`;
  return Buffer.from(text).toString();
}
