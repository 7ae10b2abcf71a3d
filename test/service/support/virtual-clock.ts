import { onTestFinished, vi } from 'vitest';

interface Timer {
  readonly atMs: number;
  run: (() => unknown) | undefined;
}

/** Time that passes as fast as the work allows: it jumps from timer to timer. */
export class VirtualClock {
  /** The next one last. */
  readonly #timers: Timer[] = [];
  nowMs = 0;
  /** How many turns of the event loop everything that follows from a timer takes: reading a page takes several. */
  turns = 1;

  readonly now = (): number => this.nowMs;

  get hasTimers(): boolean {
    return this.#timers.some(({ run }) => run);
  }

  /** Takes the place of the process's timers until the test ends. */
  replaceTimers(): void {
    vi.stubGlobal('setTimeout', (run: () => void, delayMs = 0) => this.schedule(run, delayMs));
    vi.stubGlobal('clearTimeout', (cancel?: () => void) => cancel?.());
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
  }

  /** If it returns a promise, the time stands still until that is resolved. */
  readonly schedule = (run: () => unknown, delayMs: number): (() => void) => {
    const timer: Timer = { atMs: this.nowMs + Math.max(0, delayMs), run };
    this.#timers.splice(this.#timers.findLastIndex(({ atMs }) => atMs > timer.atMs) + 1, 0, timer);
    return () => {
      timer.run = undefined;
    };
  };

  readonly sleep = (delayMs: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const cancel = this.schedule(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, delayMs);
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });

  /** Runs all timers until then, each with everything that follows from it. */
  async runUntil(untilMs: number): Promise<void> {
    await settled();
    while ((this.#timers.at(-1)?.atMs ?? Number.POSITIVE_INFINITY) <= untilMs) {
      const timer = this.#timers.pop();
      if (!timer?.run) continue;
      this.nowMs = timer.atMs;
      await timer.run();
      for (let turn = 0; turn < this.turns; turn += 1) await settled();
    }
    this.nowMs = untilMs;
  }
}

/** Everything that waits for promises alone has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
