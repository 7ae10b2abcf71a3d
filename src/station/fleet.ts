import { MAX_TIMER_MS } from './clock.ts';
import type { StationCache, StationView } from './station-cache.ts';

/** The stations this process answers for. */
export class Fleet<Encoded> {
  readonly #caches: ReadonlyMap<string, StationCache<Encoded>>;
  readonly #asked: (answer: 'hit' | 'miss', stations: number) => void;
  #stops: (() => void)[] = [];

  constructor(caches: Iterable<StationCache<Encoded>>, asked: (answer: 'hit' | 'miss', stations: number) => void) {
    this.#caches = new Map(Array.from(caches, (cache) => [cache.spec.name, cache]));
    this.#asked = asked;
  }

  /** Asks for each station that was never tried, and keeps those fresh that are refreshed in the background. */
  start(): void {
    const all = [...this.#caches.values()];
    this.#stops = all.filter(({ spec }) => spec.cache.refresh === 'background').map((cache) => refreshInBackground(cache));
    for (const cache of all) if (!cache.wasAttempted) void cache.refresh();
  }

  /** Stops the timers; the stations themselves may live on in another fleet. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  ready(): boolean {
    return [...this.#caches.values()].every((cache) => cache.wasAttempted);
  }

  views(): StationView<Encoded>[] {
    return Array.from(this.#caches.values(), (cache) => cache.view());
  }

  /**
   * Brings all stations, or the named one, up to date as far as their policies ask.
   * The signal bounds the wait, never a refresh: another scrape may be waiting for the same one.
   * Each station is seen as its refresh left it, however long the others take.
   */
  async read(signal: AbortSignal, name?: string): Promise<StationView<Encoded>[]> {
    const caches = name === undefined ? [...this.#caches.values()] : this.#called(name);
    const refreshed = new Map<StationCache<Encoded>, StationView<Encoded>>();
    const refreshes = caches.flatMap((cache) => cache.refreshIfDue()?.then(() => refreshed.set(cache, cache.view())) ?? []);
    this.#asked('miss', refreshes.length);
    this.#asked('hit', caches.length - refreshes.length);
    if (refreshes.length > 0) await waitFor(Promise.all(refreshes), signal);
    return caches.map((cache) => refreshed.get(cache) ?? cache.view());
  }

  #called(name: string): StationCache<Encoded>[] {
    const cache = this.#caches.get(name);
    return cache ? [cache] : [];
  }
}

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

/** Refreshes a station whenever it is due, each time a little later than its policy allows, so that stations do not march in step. */
export function refreshInBackground<Encoded>(cache: StationCache<Encoded>, dependencies: Partial<Dependencies> = {}): () => void {
  const { random, setTimer, clearTimer } = { ...realDependencies, ...dependencies };
  let timer: unknown;
  let stopped = false;
  const schedule = () => {
    if (stopped) return;
    const { ttlMs, errorTtlMs } = cache.spec.cache;
    // A listing that takes longer than ttl leaves the service some rest, too.
    const restMs = cache.wasAttempted ? Math.min(ttlMs, errorTtlMs) : 0;
    const delayMs = Math.max(cache.dueInMs(), restMs) * (1 + JITTER * random());
    timer = setTimer(() => void cache.refresh().then(schedule), Math.min(delayMs, MAX_TIMER_MS));
  };
  schedule();
  return () => {
    stopped = true;
    clearTimer(timer);
  };
}

/** Resolves when the work is done or the signal aborts, whichever comes first; the work itself goes on. */
async function waitFor(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let stop: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', stop);
}
