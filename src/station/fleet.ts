import { refreshInBackground } from './background-refresh.ts';
import type { StationCache, StationView } from './station-cache.ts';
import { waitFor } from './wait.ts';

/** The stations this process answers for. */
export class Fleet<Form> {
  readonly #caches: ReadonlyMap<string, StationCache<Form>>;
  readonly #asked: (answer: 'hit' | 'miss', stations: number) => void;
  #stops: (() => void)[] = [];

  constructor(caches: Iterable<StationCache<Form>>, asked: (answer: 'hit' | 'miss', stations: number) => void) {
    this.#caches = new Map(Array.from(caches, (cache) => [cache.spec.name, cache]));
    this.#asked = asked;
  }

  /** Asks for each station that was never tried, and keeps those fresh that are refreshed in the background. */
  start(): void {
    const all = [...this.#caches.values()];
    this.#stops = all.filter(({ spec }) => spec.cache.refresh === 'background').map((cache) => refreshInBackground(cache));
    for (const cache of all) if (!cache.wasTried) void cache.refresh();
  }

  /** Stops the timers; the stations themselves may live on in another fleet. */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  ready(): boolean {
    return [...this.#caches.values()].every((cache) => cache.wasTried);
  }

  views(): StationView<Form>[] {
    return Array.from(this.#caches.values(), (cache) => cache.view());
  }

  /**
   * Brings all stations, or the named one, up to date as far as their policies ask.
   * The signal bounds the wait, never a refresh: another scrape may be waiting for the same one.
   * Each station is seen as its refresh left it, however long the others take.
   */
  async read(signal: AbortSignal, name?: string): Promise<StationView<Form>[]> {
    const caches = name === undefined ? [...this.#caches.values()] : this.#called(name);
    const refreshed = new Map<StationCache<Form>, StationView<Form>>();
    const refreshes = caches.flatMap((cache) => cache.freshen()?.then(() => refreshed.set(cache, cache.view())) ?? []);
    this.#asked('miss', refreshes.length);
    this.#asked('hit', caches.length - refreshes.length);
    if (refreshes.length > 0) await waitFor(Promise.all(refreshes), signal);
    return caches.map((cache) => refreshed.get(cache) ?? cache.view());
  }

  #called(name: string): StationCache<Form>[] {
    const cache = this.#caches.get(name);
    return cache ? [cache] : [];
  }
}
