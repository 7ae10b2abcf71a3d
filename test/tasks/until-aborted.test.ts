import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { hasElapsed, untilAborted } from '../../src/tasks/until-aborted.ts';

const never = new Promise<never>(() => undefined);

describe('untilAborted', () => {
  it('settles like the promise and removes its listener', async () => {
    const { signal } = new AbortController();
    await expect(untilAborted(Promise.resolve('done'), signal)).resolves.toBe('done');
    await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of a signal that aborts first, or has aborted', async () => {
    const controller = new AbortController();
    const outcome = untilAborted(never, controller.signal);
    controller.abort('enough');
    await expect(outcome).rejects.toBe('enough');
    await expect(untilAborted(never, AbortSignal.abort('too late'))).rejects.toBe('too late');
  });
});

describe('hasElapsed', () => {
  it('is false when the signal aborts first', async () => {
    const controller = new AbortController();
    expect(await hasElapsed(1, controller.signal)).toBe(true);
    const waiting = hasElapsed(3_600_000, controller.signal);
    controller.abort();
    expect(await waiting).toBe(false);
  });
});
