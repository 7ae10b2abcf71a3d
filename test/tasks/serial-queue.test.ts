import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../src/tasks/serial-queue.ts';
import { yieldToEventLoop } from '../../src/tasks/yield-to-event-loop.ts';

describe('SerialQueue', () => {
  it('starts work when the work before it has ended, also when that failed', async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} starts`);
      await yieldToEventLoop();
      events.push(`${name} ends`);
      if (name === 'a') throw new Error('no a');
      return name;
    };
    const results = await Promise.allSettled([queue.run(work('a')), queue.run(work('b'))]);
    expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
    expect(results).toMatchObject([{ reason: new Error('no a') }, { value: 'b' }]);
  });
});
