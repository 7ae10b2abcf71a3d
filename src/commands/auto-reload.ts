import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '../config/load.ts';

/** A file that is written in pieces is complete by then. */
const SETTLE_MS = 200;

/** Knows whether the files have changed since they were last loaded, whatever caused the load. */
export function watchedConfig(
  loadFiles: () => Promise<LoadResult>,
  fingerprint: () => Promise<string>,
  pause: () => Promise<unknown> = () => sleep(SETTLE_MS, undefined, { ref: false }),
) {
  let loaded: string | undefined;
  return {
    /** The fingerprint is taken first: a change while the files are loaded counts as a later one. */
    load: async (): Promise<LoadResult> => {
      loaded = await fingerprint();
      return loadFiles();
    },
    /** False while they are being written: the first half of a list is a valid list, and its other stations would lose their data. */
    hasChanged: async (): Promise<boolean> => {
      const found = await fingerprint();
      if (found === loaded) return false;
      await pause();
      return (await fingerprint()) === found;
    },
  };
}

/** Reloads after each tick that finds a change, until there is none. A rejected change is not loaded again until the files change again. */
export async function autoReload(
  { hasChanged }: Pick<ReturnType<typeof watchedConfig>, 'hasChanged'>,
  reload: () => Promise<unknown>,
  tick: () => Promise<boolean>,
): Promise<void> {
  while (await tick()) if (await hasChanged()) await reload();
}
