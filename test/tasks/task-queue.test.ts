import { describe, expect, it } from 'vitest';
import { TaskQueue } from '../../src/tasks/task-queue.ts';

/** What is run in each event-loop iteration, by a queue whose clock advances by `taskMs` with every task. */
async function iterations(
  taskMs: number,
  start: (tasks: TaskQueue, ran: (what: string) => void) => Promise<unknown>,
): Promise<string[]> {
  let nowMs = 0;
  let done = false;
  const run: string[] = [''];
  const tasks = new TaskQueue(() => nowMs);
  const ran = (what: string) => {
    nowMs += taskMs;
    run.push(run.pop() + what);
  };
  const work = start(tasks, ran).finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    run.push('');
  }
  await work;
  return run.filter((what) => what !== '');
}

const runAll = (tasks: TaskQueue, ran: (what: string) => void) =>
  Promise.all([...'abcdef'].map((name) => tasks.run(() => ran(name))));

describe('TaskQueue', () => {
  it('runs one long task per event-loop iteration, in order', async () => {
    expect(await iterations(1, runAll)).toEqual([...'abcdef']);
  });

  it('runs short tasks in one iteration, until they take long together', async () => {
    expect(await iterations(0, runAll)).toEqual(['abcdef']);
    expect(await iterations(0.25, runAll)).toEqual(['abcd', 'ef']);
  });

  it('returns the result of each task, and continues after one that fails', async () => {
    const tasks = new TaskQueue();
    const fail = () => {
      throw new Error('b failed');
    };
    const results = await Promise.allSettled([tasks.run(() => 'a'), tasks.run(fail), tasks.run(() => 'c')]);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)))).toEqual([
      'a',
      'Error: b failed',
      'c',
    ]);
    expect(await tasks.run(() => 'd')).toBe('d');
  });

  it('runs all tasks of a piece of work before the next one starts, and continues after one that fails', async () => {
    const threePieces = (tasks: TaskQueue, ran: (what: string) => void) =>
      Promise.allSettled(
        [...'abc'].map((name) =>
          tasks.runSerially(async () => {
            await tasks.run(() => ran(`${name}1`));
            if (name === 'b') throw new Error('b failed');
            await tasks.run(() => ran(`${name}2`));
          }),
        ),
      );
    expect(await iterations(1, threePieces)).toEqual(['a1', 'a2', 'b1', 'c1', 'c2']);
  });

  it('runs as many steps of a computation in one iteration as take 5 milliseconds, and returns its result', async () => {
    const results: string[] = [];
    const computation = (tasks: TaskQueue, ran: (what: string) => void) => {
      const steps = function* () {
        for (const name of 'abcdef') {
          ran(name);
          yield;
        }
        return 'result';
      };
      return tasks.runSteps(steps()).then((result) => results.push(result));
    };
    expect(await iterations(0, computation)).toEqual(['abcdef']);
    expect(await iterations(2, computation)).toEqual(['abc', 'def']);
    expect(results).toEqual(['result', 'result']);
  });

  it('does not run a task in the iteration that adds it', async () => {
    const events: string[] = [];
    const run = new TaskQueue().run(() => events.push('task'));
    await Promise.resolve();
    events.push('added');
    await run;
    expect(events).toEqual(['added', 'task']);
  });

  it('handles parts of about 1,000 rows in each task, and fewer that take long', async () => {
    const rowsPerTask = async (sizes: readonly number[], taskMs = 1) => {
      const parts = sizes.map((size) => Array.from({ length: size }, () => undefined));
      return iterations(taskMs, (tasks, ran) => tasks.forEach(parts, ({ length }) => ran(`${length} `)));
    };
    expect(await rowsPerTask([])).toEqual([]);
    expect(await rowsPerTask([500, 500, 500])).toEqual(['500 500 ', '500 ']);
    expect(await rowsPerTask([999, 1, 600, 600, 5, 1000])).toEqual(['999 1 ', '600 600 ', '5 1000 ']);
    expect(await rowsPerTask([1, 2, 3, 4, 5], 2)).toEqual(['1 2 3 ', '4 5 ']);
  });
});
