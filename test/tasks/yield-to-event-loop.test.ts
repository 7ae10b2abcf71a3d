import { describe, expect, it } from 'vitest';
import { forEachPart, yieldToEventLoop } from '../../src/tasks/yield-to-event-loop.ts';

/** The parts that are handled between two iterations of the event loop, by their lengths. */
async function iterations(lengths: readonly number[]): Promise<readonly (readonly number[])[]> {
  const handled: number[][] = [[]];
  let isEnded = false;
  const nextIteration = () => {
    if (isEnded) return;
    handled.push([]);
    setImmediate(nextIteration);
  };
  setImmediate(nextIteration);
  const parts = lengths.map((length) => Array.from({ length }, () => 'row'));
  await forEachPart(parts, (part) => handled.at(-1)?.push(part.length));
  isEnded = true;
  return handled;
}

describe('yieldToEventLoop', () => {
  it('continues one caller per iteration of the event loop, in their order', async () => {
    let iteration = 0;
    const count = () => {
      iteration += 1;
      if (iteration < 100) setImmediate(count);
    };
    setImmediate(count);
    const continued: [caller: string, iteration: number][] = [];
    const work = async (caller: string) => {
      for (let round = 0; round < 2; round += 1) {
        await yieldToEventLoop();
        continued.push([caller, iteration]);
      }
    };
    await Promise.all(['a', 'b', 'c'].map(work));
    expect(continued.map(([caller]) => caller)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(new Set(continued.map(([, at]) => at)).size).toBe(6);
  });
});

describe('forEachPart', () => {
  it('handles the parts of a usual page at once', async () => {
    expect(await iterations([100, 100, 100])).toEqual([[100, 100, 100]]);
  });

  it('lets other events be handled after a thousand rows', async () => {
    expect(await iterations([1000, 400, 600, 1, 1])).toEqual([[1000], [400, 600], [1, 1]]);
  });
});
