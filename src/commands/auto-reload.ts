import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '../config/load.ts';

type Load = () => Promise<LoadResult>;

/** A file that is written in pieces is complete by then. */
const SETTLE_MS = 200;

/** Knows whether the files have changed since they were last loaded, whatever caused the load. */
export class WatchedConfig {
  readonly #load: Load;
  readonly #fingerprint: () => Promise<string>;
  readonly #pause: () => Promise<unknown>;
  #loaded: string | undefined;

  constructor(
    load: Load,
    fingerprint: () => Promise<string>,
    pause: () => Promise<unknown> = () => sleep(SETTLE_MS, undefined, { ref: false }),
  ) {
    this.#load = load;
    this.#fingerprint = fingerprint;
    this.#pause = pause;
  }

  /** The fingerprint is taken first: a change while the files are loaded counts as a later one. */
  async load(): Promise<LoadResult> {
    this.#loaded = await this.#fingerprint();
    return this.#load();
  }

  /** False while they are being written: the first half of a list is a valid list, and its other stations would lose their data. */
  async hasChanged(): Promise<boolean> {
    const found = await this.#fingerprint();
    if (found === this.#loaded) return false;
    await this.#pause();
    return (await this.#fingerprint()) === found;
  }
}

/** Reloads after each tick that finds a change. A rejected change is not loaded again until the files change again. */
export async function autoReload(
  config: Pick<WatchedConfig, 'hasChanged'>,
  reload: () => Promise<unknown>,
  ticks: AsyncIterable<unknown>,
): Promise<void> {
  for await (const _tick of ticks) if (await config.hasChanged()) await reload();
}

/** One tick per interval until the signal aborts; the time in which a tick is handled does not count. */
export async function* intervalTicks(intervalMs: number, signal: AbortSignal): AsyncGenerator<void> {
  for (;;) {
    await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    yield;
  }
}
