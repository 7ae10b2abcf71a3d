import type { StationCache } from './station-cache.ts';

interface Dependencies {
  readonly random: () => number;
  readonly setTimer: (run: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

const realDependencies: Dependencies = {
  random: Math.random,
  setTimer: setTimeout,
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

const JITTER = 0.1;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Refreshes a station whenever it is due, each time a little later than its policy allows, so that stations do not march in step. */
export function refreshInBackground<Form>(cache: StationCache<Form>, dependencies: Partial<Dependencies> = {}): () => void {
  const { random, setTimer, clearTimer } = { ...realDependencies, ...dependencies };
  let timer: unknown;
  let stopped = false;
  const schedule = () => {
    if (stopped) return;
    const { ttlMs, errorTtlMs } = cache.spec.cache;
    // A listing that takes longer than ttl leaves the service some rest, too.
    const restMs = cache.wasTried ? Math.min(ttlMs, errorTtlMs) : 0;
    const delayMs = Math.max(cache.dueInMs(), restMs) * (1 + JITTER * random());
    timer = setTimer(() => void cache.refresh().then(schedule), Math.min(delayMs, LONGEST_TIMER_MS));
  };
  schedule();
  return () => {
    stopped = true;
    clearTimer(timer);
  };
}
