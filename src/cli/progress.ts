import stringWidth from 'string-width';
import { printable } from '../text/records.ts';
import { countText, durationText, numberText } from '../text/words.ts';
import { CLEAR_LINE } from './log-output.ts';

/** A station that is refreshed for the first time. */
interface ProgressStation {
  readonly name: string;
  readonly isDone: boolean;
  /** Its requests wait until those of others have ended. */
  readonly isWaiting: boolean;
}

interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Width of the terminal, 0 when it is unknown. */
  readonly columns: () => number;
  readonly nowMs?: () => number;
}

/** What takes less time is not slow. */
const SLOW_MS = 2000;

const UNKNOWN_WIDTH = 80;

/** A line on the terminal that says how far a command is. */
export class Progress {
  readonly #options: Required<ProgressOptions>;
  readonly #startMs: number;
  /** Since when a station has not waited. */
  readonly #sinceMs = new Map<string, number>();
  #pages = 0;

  constructor(options: ProgressOptions) {
    this.#options = { nowMs: () => performance.now(), ...options };
    this.#startMs = this.#options.nowMs();
  }

  pageReceived(): void {
    this.#pages += 1;
  }

  paint(stations: readonly ProgressStation[]): void {
    const { columns, write } = this.#options;
    // Some terminals wrap a line of full width.
    const width = (columns() || UNKNOWN_WIDTH) - 1;
    const [count, slow] = this.#texts(stations);
    const line = `${count}${slow}`;
    write(`${CLEAR_LINE}${stringWidth(line) <= width ? line : count.slice(0, width)}`);
  }

  clear(): void {
    this.#options.write(CLEAR_LINE);
  }

  /** How far it is, and what may be left out in a narrow terminal. */
  #texts(stations: readonly ProgressStation[]): readonly [count: string, slow: string] {
    const nowMs = this.#options.nowMs();
    const pages = countText(this.#pages, 'page');
    const [only, ...others] = stations;
    if (only && others.length === 0) {
      const ms = nowMs - this.#startMs;
      return [pages, ` of ${printable(only.name)}${ms < SLOW_MS ? '' : `, ${durationText(ms)}`}`];
    }
    for (const { name, isWaiting } of stations)
      if (!isWaiting && !this.#sinceMs.has(name)) this.#sinceMs.set(name, nowMs);
    const done = stations.filter(({ isDone }) => isDone).length;
    const active = stations.filter(({ isDone, isWaiting }) => !isDone && !isWaiting);
    const durations = active.map(({ name }) => ({ name, ms: nowMs - Number(this.#sinceMs.get(name)) }));
    const [slowest] = durations.toSorted((a, b) => b.ms - a.ms);
    const slow =
      slowest && slowest.ms >= SLOW_MS ? `, slowest: ${printable(slowest.name)} (${durationText(slowest.ms)})` : '';
    return [`${numberText(done)} of ${countText(stations.length, 'station')}, ${pages}`, slow];
  }
}
