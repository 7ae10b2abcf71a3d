import { HOUR_MS } from '../model/clock.ts';
import { isLost } from './thresholds.ts';

/** Many resources of a station are gone. */
export interface Loss {
  readonly lost: number;
  /** The largest number of the last six hours. */
  readonly before: number;
  readonly sinceMs: number;
}

const WINDOW_MS = 6 * HOUR_MS;

interface VerifiedNumber {
  readonly resources: number;
  /** When a smaller number followed; of the latest: when it was listed. */
  untilMs: number;
}

/** The numbers of resources of the last six hours that are larger than all later ones. */
export class VerifiedNumbers {
  /** In descending order, which is that of their times. */
  #numbers: readonly VerifiedNumber[] = [];

  /** The number of a listing that adds up. */
  add(resources: number, atMs: number): void {
    const latest = this.#numbers.at(-1);
    if (latest) latest.untilMs = atMs;
    const larger = this.#numbers.filter((number) => number.resources > resources && isRecent(number, atMs));
    this.#numbers = [...larger, { resources, untilMs: atMs }];
  }

  /** undefined: not many are gone. */
  lossAt(nowMs: number): Loss | undefined {
    const largest = this.#numbers.find((number) => isRecent(number, nowMs));
    const latest = this.#numbers.at(-1);
    if (largest === undefined || latest === undefined) return undefined;
    const { resources: before, untilMs: sinceMs } = largest;
    return isLost(latest.resources, before) ? { lost: before - latest.resources, before, sinceMs } : undefined;
  }
}

function isRecent({ untilMs }: VerifiedNumber, nowMs: number): boolean {
  return untilMs > nowMs - WINDOW_MS;
}
