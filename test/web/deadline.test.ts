import { EventEmitter, once } from 'node:events';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { scrapeDeadlineMs, withinDeadline } from '../../src/web/scrape.ts';

const OPTIONS = { scrapeTimeoutMs: 10_000, timeoutOffsetMs: 500 };
const MAX_TIMER_MS = 2_147_483_647;

describe('scrapeDeadlineMs', () => {
  it.each([
    ['5', 4500],
    ['0.75', 250],
    ['10.0', 9500],
    ['2147483', 2_147_482_500],
  ])('takes the offset from the header %s', (header, ms) => {
    expect(scrapeDeadlineMs(header, OPTIONS)).toBe(ms);
  });

  it('is now when the offset eats everything', () => {
    expect(scrapeDeadlineMs('0.5', OPTIONS)).toBe(0);
    expect(scrapeDeadlineMs('0.1', OPTIONS)).toBe(0);
  });

  it.each([undefined, '', '0', '-1', 'Infinity', 'NaN', '1e3', '0x10', '5s', '5, 5', '.5', '99999999999', '9'.repeat(400)])(
    'falls back to the default, offset not taken, for the header %s',
    (header) => {
      expect(scrapeDeadlineMs(header, OPTIONS)).toBe(10_000);
    },
  );

  it('never exceeds what a timer can hold', () => {
    expect(scrapeDeadlineMs(undefined, { scrapeTimeoutMs: 1e12, timeoutOffsetMs: 0 })).toBe(MAX_TIMER_MS);
  });

  it('is a usable time for any header and options', () => {
    const header = fc.oneof(fc.string(), fc.double().map(String), fc.integer({ min: 0 }).map(String), fc.stringMatching(/^[0-9.e+-]*$/));
    fc.assert(
      fc.property(header, fc.nat(), fc.nat(), (text, scrapeTimeoutMs, timeoutOffsetMs) => {
        const ms = scrapeDeadlineMs(text, { scrapeTimeoutMs, timeoutOffsetMs });
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(MAX_TIMER_MS);
      }),
    );
  });
});

describe('withinDeadline', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('aborts the signal when the deadline has come, and not before', async () => {
    vi.useFakeTimers();
    const request = new EventEmitter();
    const result = withinDeadline(request, 1000, async (signal) => {
      await vi.advanceTimersByTimeAsync(999);
      const before = signal.aborted;
      await vi.advanceTimersByTimeAsync(1);
      return [before, signal.aborted];
    });
    expect(await result).toEqual([false, true]);
  });

  it('starts with an aborted signal when the deadline is now', async () => {
    expect(await withinDeadline(new EventEmitter(), 0, async (signal) => signal.aborted)).toBe(true);
  });

  it('aborts the signal when the client goes away', async () => {
    const request = new EventEmitter();
    const result = withinDeadline(request, 60_000, async (signal) => {
      setImmediate(() => request.emit('close'));
      await once(signal, 'abort');
      return 'gone';
    });
    expect(await result).toBe('gone');
  });

  it.each([
    ['done', async () => 'done'],
    ['failed', async () => Promise.reject(new Error('bug'))],
  ])('leaves no timer and no listener behind when the work is %s', async (_how, work) => {
    vi.useFakeTimers();
    const request = new EventEmitter();
    const signals: AbortSignal[] = [];
    await withinDeadline(request, 60_000, (signal) => {
      signals.push(signal);
      expect(vi.getTimerCount()).toBe(1);
      return work();
    }).catch(() => undefined);
    expect(vi.getTimerCount()).toBe(0);
    expect(request.listenerCount('close')).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
