import { HOUR_MS, MINUTE_MS } from '../model/clock.ts';
import { isLost } from './thresholds.ts';

/** Many resources of a station are gone. */
export interface Loss {
  readonly lost: number;
  /** The largest number that lasted half an hour within the last six. */
  readonly before: number;
  readonly sinceMs: number;
}

/** A number that was in force for less time is a burst or the listing of a moment, which nothing is compared with. */
const LASTING_MS = 30 * MINUTE_MS;

const WINDOW_MS = 6 * HOUR_MS;

interface VerifiedNumber {
  readonly resources: number;
  readonly atMs: number;
  /** When a refresh failed after it, from when on it was only last known. */
  readonly failedAtMs?: number;
}

interface LastingNumber {
  readonly resources: number;
  /** Until when it was in force, as far as is known. */
  readonly untilMs: number;
}

/** What the verified numbers of resources of a station are compared with. */
export class VerifiedNumbers {
  /** The number in force half an hour ago, and those since then. */
  #latest: readonly VerifiedNumber[] = [];
  /** The lasting numbers of the last six hours that are larger than all later ones: in descending order, which is that of their times. */
  #lasting: readonly LastingNumber[] = [];

  /** The number of a listing that adds up. */
  add(resources: number, atMs: number): void {
    if (!this.#isFailing()) this.#addLasting(atMs);
    this.#latest = [...this.#latest, { resources, atMs }];
    this.#addLasting(atMs);
  }

  /** A refresh has failed: until the next listing, no number counts as in force. */
  fail(atMs: number): void {
    const latest = this.#latest.at(-1);
    if (latest === undefined || this.#isFailing()) return;
    this.#addLasting(atMs);
    this.#latest = [...this.#latest.slice(0, -1), { ...latest, failedAtMs: atMs }];
  }

  /** undefined: not many are gone. */
  lossAt(nowMs: number): Loss | undefined {
    const largest = this.#lasting.find((number) => isRecent(number, nowMs));
    const latest = this.#latest.at(-1);
    if (largest === undefined || latest === undefined) return undefined;
    const { resources: before, untilMs: sinceMs } = largest;
    return isLost(latest.resources, before) ? { lost: before - latest.resources, before, sinceMs } : undefined;
  }

  #isFailing(): boolean {
    return this.#latest.at(-1)?.failedAtMs !== undefined;
  }

  /** The smallest number of the half hour before that time, if one was in force at its begin. */
  #addLasting(atMs: number): void {
    const isBefore = ({ atMs: since }: VerifiedNumber) => since <= atMs - LASTING_MS;
    const first = this.#latest.findLastIndex(isBefore);
    if (first === -1) return;
    this.#latest = this.#latest.slice(first);
    const [{ failedAtMs = atMs }] = this.#latest as [VerifiedNumber];
    if (failedAtMs <= atMs - LASTING_MS) return;
    const resources = Math.min(...this.#latest.map((number) => number.resources));
    const larger = this.#lasting.filter((number) => number.resources > resources && isRecent(number, atMs));
    this.#lasting = [...larger, { resources, untilMs: atMs }];
  }
}

function isRecent({ untilMs }: LastingNumber, nowMs: number): boolean {
  return untilMs > nowMs - WINDOW_MS;
}
