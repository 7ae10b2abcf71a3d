import { describe, expect, it } from 'vitest';
import { TaskQueue } from '../../src/station/task-queue.ts';

/** The number of rows handled in each event-loop iteration. */
async function rowsPerIteration(sizes: readonly number[]): Promise<readonly number[]> {
  const handled: number[] = [];
  const parts = sizes.map((size) => Array.from({ length: size }, () => undefined));
  let done = false;
  const work = new TaskQueue()
    .forEach(parts, (part) => handled.push((handled.pop() ?? 0) + part.length))
    .then(() => {
      done = true;
    });
  while (!done) {
    handled.push(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await work;
  return handled.filter((rows) => rows > 0);
}

describe('TaskQueue', () => {
  it('runs one task per event-loop iteration, in order, even after one has failed', async () => {
    const tasks = new TaskQueue();
    const events: string[] = [];
    const runs = ['a', 'b', 'c'].map((name) =>
      tasks
        .run(() => {
          events.push(name);
          if (name === 'b') throw new Error('b failed');
        })
        .catch((error: Error) => events.push(error.message)),
    );
    for (let iteration = 0; events.length < 4; iteration += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`end ${iteration}`);
    }
    await Promise.all(runs);
    const order = events.filter((event) => !event.startsWith('end'));
    expect(order).toEqual(['a', 'b', 'b failed', 'c']);
    expect(events.join()).toMatch(/a,end.*b,b failed,end.*c/);
  });

  it('handles parts of about 1,000 rows in each iteration', async () => {
    expect(await rowsPerIteration([])).toEqual([]);
    expect(await rowsPerIteration(Array(25).fill(100))).toEqual([1000, 1000, 500]);
    expect(await rowsPerIteration([999, 1, 600, 600, 5, 1000])).toEqual([1000, 1200, 1005]);
  });
});
