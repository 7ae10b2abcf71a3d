import { expect } from 'vitest';
import { eventually } from './eventually.ts';

/** Calls that wait until `release` is called. */
export function heldCalls() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = 0;
  let over = 0;
  return {
    /** Waits for the release, or for another event. */
    hold: async (other: Promise<unknown> = released) => {
      begun += 1;
      await Promise.race([released, other]);
      over += 1;
    },
    began: (count: number) => eventually(() => expect(begun).toBe(count)),
    ended: (count: number) => eventually(() => expect(over).toBe(count)),
    release: () => release(),
  };
}
