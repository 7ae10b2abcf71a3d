import type { Part } from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { TaskQueue } from '../model/task-queue.ts';
import { comparison, joined, type Order, type Selection, selectResources, valueTests } from './selection.ts';

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
  /** In the order of the stations and of their listings when no other is given. */
  readonly found: readonly StationResource[];
  /** Stations that could not be searched. */
  readonly withoutData: readonly string[];
}

/** The selected resources of all stations. Works in short tasks; rejects with the reason of the signal once it aborts. */
export async function searchStations(
  stations: readonly SearchedStation[],
  selection: Selection,
  order: Order | undefined,
  tasks: TaskQueue,
  signal: AbortSignal,
): Promise<SearchResult> {
  const found: StationResource[][] = [];
  const withoutData: string[] = [];
  const allParts = stations.flatMap(({ parts }) => parts ?? []);
  // A value that one station has exactly is no short form in any other.
  const tests = await valueTests(allParts, selection, tasks, signal);
  for (const { name: station, parts } of stations) {
    if (parts === undefined) withoutData.push(station);
    const selected = await selectResources(parts ?? [], selection, order, tasks, signal, tests);
    if (selected.length > 0) found.push(selected.map((resource) => ({ station, resource })));
  }
  const compare = order && comparison(order);
  const byResource = compare && ((a: StationResource, b: StationResource) => compare(a.resource, b.resource));
  return { found: await joined(found, byResource, tasks, signal), withoutData };
}
