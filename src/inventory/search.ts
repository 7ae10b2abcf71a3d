import type { Part } from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { TaskQueue } from '../model/task-queue.ts';
import { textTest } from './selection.ts';

/** A station to be searched. */
export interface SearchedStation {
  readonly name: string;
  /** undefined: it has no data. */
  readonly parts: readonly Part<Resource>[] | undefined;
}

/** A resource and the name of its station. */
export interface StationResource {
  readonly station: string;
  readonly resource: Resource;
}

export interface SearchResult {
  /** The first ones, in the order of the stations and of their listings. */
  readonly found: readonly StationResource[];
  /** Number of all matching resources. */
  readonly total: number;
  /** Number of stations that have matching resources. */
  readonly stations: number;
  /** Stations that could not be searched. */
  readonly withoutData: readonly string[];
}

/**
 * Finds resources of all stations by id, name or display name, and counts those beyond `limit`. Works in short tasks.
 * Rejects with the reason of the signal once it aborts; no further task runs.
 */
export async function searchStations(
  stations: Iterable<SearchedStation>,
  text: string,
  limit: number,
  tasks: TaskQueue,
  signal: AbortSignal,
): Promise<SearchResult> {
  const isMatch = textTest(text);
  const found: StationResource[] = [];
  const withoutData: string[] = [];
  let total = 0;
  let matching = 0;
  for (const { name, parts } of stations) {
    const before = total;
    if (parts === undefined) withoutData.push(name);
    await tasks.forEach(parts ?? [], (part) => {
      signal.throwIfAborted();
      for (const resource of part) {
        if (!isMatch(resource)) continue;
        total += 1;
        if (total <= limit) found.push({ station: name, resource });
      }
    });
    if (total > before) matching += 1;
  }
  return { found, total, stations: matching, withoutData };
}
