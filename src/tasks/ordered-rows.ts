import { yieldToEventLoop } from './yield-to-event-loop.ts';

type Compare<Row> = (a: Row, b: Row) => number;

/** Rows that are merged in one turn of the event loop. */
const MERGED_TOGETHER = 1000;

/** Sorted runs of rows that are one list: only the rows that are taken, and those before them, are merged. */
export class OrderedRows<Row> {
  readonly total: number;
  readonly #runs: readonly (readonly Row[])[];
  readonly #compare: Compare<Row> | undefined;
  readonly #signal: AbortSignal | undefined;

  /** `compare`: by which each run is sorted; without it, the runs follow each other. The signal ends the merging, which rejects with its reason. */
  constructor(runs: readonly (readonly Row[])[], compare?: Compare<Row>, signal?: AbortSignal) {
    this.#runs = runs;
    this.#compare = compare;
    this.#signal = signal;
    this.total = runs.reduce((sum, { length }) => sum + length, 0);
  }

  /** The rows from one place up to another one, all by default. Yields to the event loop. */
  async rows(from = 0, to = this.total): Promise<readonly Row[]> {
    if (this.#compare === undefined) return this.#runs.flat().slice(from, to);
    const merged: Row[] = [];
    for (const row of mergedRows(this.#runs, this.#compare)) {
      if (merged.length >= to) break;
      merged.push(row);
      if (merged.length % MERGED_TOGETHER > 0) continue;
      await yieldToEventLoop();
      this.#signal?.throwIfAborted();
    }
    return merged.slice(from);
  }
}

/** Equal rows are in the order of their runs. */
function* mergedRows<Row>(runs: readonly (readonly Row[])[], compare: Compare<Row>): Generator<Row> {
  if (runs.length < 2) {
    yield* runs[0] ?? [];
    return;
  }
  const middle = Math.ceil(runs.length / 2);
  const left = mergedRows(runs.slice(0, middle), compare);
  const right = mergedRows(runs.slice(middle), compare);
  let first = left.next();
  let second = right.next();
  while (!first.done && !second.done) {
    if (compare(first.value, second.value) <= 0) {
      yield first.value;
      first = left.next();
    } else {
      yield second.value;
      second = right.next();
    }
  }
  if (!first.done) yield first.value;
  if (!second.done) yield second.value;
  yield* left;
  yield* right;
}
