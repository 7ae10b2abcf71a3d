import { type Deadline, MAX_TIMER_MS } from '../model/clock.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import type { CollectorTypes } from './collector.ts';
import type { StationCache, StationView } from './station-cache.ts';

/** Refreshes started in one event-loop iteration: the first requests must not wait until a thousand refreshes are queued. */
const STARTED_TOGETHER = 32;

export class Fleet<T extends CollectorTypes> {
  readonly #caches: ReadonlyMap<string, StationCache<T>>;
  #stops: (() => void)[] = [];

  constructor(caches: Iterable<StationCache<T>>) {
    this.#caches = new Map(Array.from(caches, (cache) => [cache.spec.name, cache]));
  }

  /** Starts the background refreshes, and refreshes every station that was never attempted. */
  async start(): Promise<void> {
    let started = 0;
    let isStopped = false;
    this.#stops.push(() => {
      isStopped = true;
    });
    for (const cache of [...this.#caches.values()].flatMap((main) => [main, ...main.further])) {
      if (cache.spec.cache.refresh === 'background') this.#stops.push(refreshInBackground(cache));
      if (!cache.wasAttempted) void cache.refresh();
      started += 1;
      if (started % STARTED_TOGETHER === 0) await yieldToEventLoop();
      if (isStopped) return;
    }
  }

  /** Stops the background refreshes; the caches themselves may be reused by another fleet. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  views(): StationView<T>[] {
    return Array.from(this.#caches.values(), (cache) => cache.view());
  }

  /**
   * Refreshes the stations that are due, or the named one, and waits until the deadline for those that can end before it; all refreshes go
   * on then.
   */
  async read({ atMs, signal }: Deadline, name?: string): Promise<StationView<T>[]> {
    const named = name === undefined ? this.#caches.values() : [this.#caches.get(name)];
    const stations = [...named].filter((cache) => cache !== undefined);
    // The first refreshes are admitted as they come: a long one would make the others wait.
    const quickFirst = stations
      .flatMap((main) => [main, ...main.further])
      .sort((a, b) => a.lastDurationMs - b.lastDurationMs);
    const awaited: Promise<void>[] = [];
    let started = 0;
    for (const cache of quickFirst) {
      const refresh = cache.refreshIfDue();
      if (!refresh) continue;
      if (cache.mayEnd(atMs)) awaited.push(refresh);
      started += 1;
      if (started % STARTED_TOGETHER === 0) await yieldToEventLoop();
    }
    // Refreshes never reject: what rejects is the wait, once it is aborted.
    if (awaited.length > 0) await Promise.allSettled([untilAborted(Promise.all(awaited), signal)]);
    return stations.map((station) => station.view());
  }
}

const JITTER = 0.1;

/** Between two refreshes of a station, also with a ttl of 0. */
const MIN_DELAY_MS = 100;

/** Refreshes a station whenever it is due, delayed by a random jitter so that stations do not synchronise. */
export function refreshInBackground(
  cache: Pick<StationCache<CollectorTypes>, 'spec' | 'wasAttempted' | 'dueInMs' | 'refresh'>,
  random = Math.random,
): () => void {
  let timer: NodeJS.Timeout;
  let stopped = false;
  const schedule = () => {
    if (stopped) return;
    const { ttlMs, errorTtlMs } = cache.spec.cache;
    // Refreshes that take longer than ttl must not follow each other at once.
    const leastDelayMs = cache.wasAttempted ? Math.max(MIN_DELAY_MS, Math.min(ttlMs, errorTtlMs)) : 0;
    const delayMs = Math.max(cache.dueInMs(), leastDelayMs) * (1 + JITTER * random());
    timer = setTimeout(() => void cache.refresh().then(schedule), Math.min(delayMs, MAX_TIMER_MS));
  };
  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
