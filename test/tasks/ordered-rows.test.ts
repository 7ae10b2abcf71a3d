import { describe, expect, it } from 'vitest';
import { OrderedRows } from '../../src/tasks/ordered-rows.ts';

interface Row {
  readonly key: number;
  readonly run: number;
}

const byKey = (a: Row, b: Row) => a.key - b.key;

/** Runs that interleave: the first row of each run comes before the second one of any. */
const interleaved = (runs: number, length: number): Row[][] =>
  Array.from({ length: runs }, (_, run) => Array.from({ length }, (_row, at) => ({ key: at * runs + run, run })));

const keysOf = (rows: readonly Row[]) => rows.map(({ key }) => key);

/** Merges rows, and counts the comparisons in each turn of the event loop. */
async function comparisonsPerTurn(runs: readonly Row[][], from: number, to?: number) {
  const turns = [0];
  const nextTurn = () => {
    turns.push(0);
    counting = setImmediate(nextTurn);
  };
  let counting = setImmediate(nextTurn);
  const compare = (a: Row, b: Row) => {
    turns.push(Number(turns.pop()) + 1);
    return byKey(a, b);
  };
  const rows = await new OrderedRows(runs, compare).rows(from, to);
  clearImmediate(counting);
  return { rows, turns, comparisons: turns.reduce((sum, count) => sum + count, 0) };
}

describe('OrderedRows', () => {
  it('merges runs of any lengths, equal rows in the order of the runs', async () => {
    const runs = [[5, 5, 9], [], [1, 5], [7]].map((keys, run) => keys.map((key) => ({ key, run })));
    const ordered = new OrderedRows(runs, byKey);
    expect(ordered.total).toBe(6);
    expect((await ordered.rows()).map(({ key, run }) => `${key} of ${run}`)).toEqual([
      '1 of 2',
      '5 of 0',
      '5 of 0',
      '5 of 2',
      '7 of 3',
      '9 of 0',
    ]);
    expect(keysOf(await ordered.rows(1, 4))).toEqual([5, 5, 5]);
    expect(keysOf(await ordered.rows(5, 99))).toEqual([9]);
    expect(await ordered.rows(0, 0)).toEqual([]);
    expect(await new OrderedRows([], byKey).rows()).toEqual([]);
  });

  it('has the runs one after another without an order', async () => {
    const ordered = new OrderedRows(interleaved(2, 2));
    expect(keysOf(await ordered.rows())).toEqual([0, 2, 1, 3]);
    expect(keysOf(await ordered.rows(1, 3))).toEqual([2, 1]);
  });

  it('merges for the first page of 250,000 rows little more than its rows', async () => {
    const { rows, comparisons } = await comparisonsPerTurn(interleaved(250, 1000), 0, 100);
    expect(keysOf(rows)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(comparisons).toBeLessThan(250 + 100 * 8);
  });

  it('merges all of them in turns of a thousand rows, so that other events are handled meanwhile', async () => {
    const { rows, turns } = await comparisonsPerTurn(interleaved(250, 1000), 0);
    expect(rows).toHaveLength(250_000);
    expect(turns.length).toBeGreaterThanOrEqual(250);
    expect(Math.max(...turns)).toBeLessThanOrEqual(250 + 1000 * 8);
  });

  it('ends after a turn once the signal aborts, and rejects with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the client has disconnected');
    let comparisons = 0;
    const compare = (a: Row, b: Row) => {
      comparisons += 1;
      if (comparisons === 10) controller.abort(reason);
      return byKey(a, b);
    };
    await expect(new OrderedRows(interleaved(2, 5000), compare, controller.signal).rows()).rejects.toBe(reason);
    expect(comparisons).toBeLessThanOrEqual(1001);
  });
});
