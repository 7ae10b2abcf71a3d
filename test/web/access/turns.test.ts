import { describe, expect, it } from 'vitest';
import { BoundedQueue } from '../../../src/web/access/password-check.ts';

/** A job that ends when told to. */
function heldJob() {
  const { promise, resolve } = deferred();
  let begun = false;
  return {
    job: () => {
      begun = true;
      return promise;
    },
    end: resolve,
    begun: () => begun,
  };
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('Turns', () => {
  it('runs one job at a time, in order', async () => {
    const tasks = new BoundedQueue(10, 10);
    const [first, second] = [heldJob(), heldJob()];
    const taken = [tasks.take('a', first.job), tasks.take('b', second.job)];
    await Promise.resolve();
    expect([first.begun(), second.begun()]).toEqual([true, false]);
    first.end();
    await taken[0];
    await Promise.resolve();
    expect(second.begun()).toBe(true);
    second.end();
    await taken[1];
  });

  it('has no place for more than it may hold, in all and for one client, until one is done', async () => {
    const tasks = new BoundedQueue(3, 2);
    const held = heldJob();
    const first = tasks.take('a', held.job);
    const rest = [
      tasks.take('a', async () => 1),
      tasks.take('a', async () => 2),
      tasks.take('b', async () => 3),
      tasks.take('c', async () => 4),
    ];
    expect(rest.map((taken) => taken !== undefined)).toEqual([true, false, true, false]);
    held.end();
    await first;
    expect(await Promise.all(rest)).toEqual([1, undefined, 3, undefined]);
    expect(await tasks.take('a', async () => 5)).toBe(5);
  });

  it('goes on after a job that failed', async () => {
    const tasks = new BoundedQueue(1, 1);
    await expect(tasks.take('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await tasks.take('a', async () => 'yes')).toBe('yes');
  });
});
