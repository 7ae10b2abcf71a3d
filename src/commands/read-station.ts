import { commandServices, endGeneration, nextGeneration, type Upstream } from '../app/generation.ts';
import type { StationJournal } from '../app/station-journal.ts';
import type { FlagValues } from '../cli/flags.ts';
import { ListProgress } from '../cli/list-progress.ts';
import type { LoadedConfig } from '../config/load.ts';
import { formatProblems, listed } from '../config/problem.ts';
import { resolveStations } from '../config/resolve.ts';
import type { Config } from '../config/schema.ts';
import { ListingFailure } from '../model/failure.ts';
import { listingCount, type Snapshot, SnapshotReader } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ListedPage } from '../service/request-observer.ts';
import { Refresh } from '../stations/refresh.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { printable } from '../text/records.ts';
import { countText, firstOf } from '../text/words.ts';
import { withConfig } from './config-source.ts';
import { interruption, OperatorError, type ProcessContext, terminationSignal } from './process-context.ts';

export interface StationReading {
  readonly station: ResourceSpec;
  readonly snapshot: Snapshot;
}

interface ReadingObserver {
  /** Called before the service is queried; may throw. */
  readonly configured?: (stations: readonly ResourceSpec[]) => void;
  readonly received?: (page: ListedPage) => void;
}

/** Takes a snapshot of a configured station; throws an OperatorError if that fails. */
export async function readStation(
  context: ProcessContext,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  name: string,
  observer: ReadingObserver,
): Promise<StationReading> {
  const { readings, failures } = await readStations(context, flags, name, observer);
  const [reading] = readings;
  if (reading === undefined) throw new OperatorError(failures);
  return reading;
}

/**
 * Takes one snapshot of each configured station, or of the named one, with the components that `serve` uses. Shows progress on a terminal
 * and prints warnings about incomplete snapshots.
 */
export async function readStations(
  context: ProcessContext,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  name: string | undefined,
  { configured, received }: ReadingObserver,
): Promise<{ readonly readings: readonly StationReading[]; readonly failures: readonly string[] }> {
  return withConfig(context, flags, async (load) => {
    const all = await load();
    if (!all.ok) throw new OperatorError(formatProblems(all.problems));
    const loaded = name === undefined ? all : onlyStation(all, configuredStation(all.config, name));
    const stations = resolveStations(loaded.config);
    configured?.(stations);
    const progress = progressOf(context, name ?? countText(stations.length, 'station'), stations);
    const observer = {
      retried: () => progress.retried(),
      pageReceived: (page: ListedPage) => {
        progress.pageReceived(page);
        received?.(page);
      },
    };
    const services = commandServices(loaded, { build: context.build, shard: { ordinal: 0, total: 1 }, observer }, 1);
    const generation = await nextGeneration(loaded, undefined, services, (next) => next);
    const done = new AbortController();
    const signal = terminationSignal(context, done.signal);
    const read = async (station: ResourceSpec): Promise<StationReading> => {
      const upstream = generation.upstreams.get(station.upstream) as Upstream;
      const source = upstream.newSource(station, generation.journals.get(station.name) as StationJournal);
      const refresh = new Refresh(station, { signal, outdatedAtMs: 0 });
      const reader = new SnapshotReader(station, { source });
      return { station, snapshot: await refresh.run((reading) => reader.read(reading, true)) };
    };
    try {
      const outcomes = await Promise.allSettled(stations.map(read));
      progress.clear();
      if (signal.aborted) throw interruption(signal);
      const readings = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      const failures = outcomes.flatMap((outcome, at) =>
        outcome.status === 'rejected' ? failureText(stations[at] as ResourceSpec, outcome.reason) : [],
      );
      for (const warning of readings.flatMap(warnings)) context.printError(`warning: ${warning}\n`);
      return { readings, failures };
    } finally {
      done.abort();
      await endGeneration(generation, undefined);
    }
  });
}

/** Throws anything but a failure of the service. */
function failureText({ name }: ResourceSpec, error: unknown): string {
  if (!(error instanceof ListingFailure)) throw error;
  return `cannot list ${quoted(name)}: ${error.reason}: ${printable(error.message)}`;
}

/** The configuration without the other stations and upstreams. */
function onlyStation<Loaded extends LoadedConfig>(loaded: Loaded, { name, upstream }: ResourceSpec): Loaded {
  const { config } = loaded;
  const index = resolveStations(config).findIndex((station) => station.name === name);
  const upstreams = Object.fromEntries(Object.entries(config.upstreams).filter(([key]) => key === upstream));
  return { ...loaded, config: { ...config, upstreams, stations: config.stations.slice(index, index + 1) } };
}

/** Shown if stderr is a terminal that can erase a line. */
export function progressOf(
  { env, printError, errorColumns }: ProcessContext,
  title: string,
  stations: readonly ResourceSpec[],
): ListProgress {
  return new ListProgress({
    title,
    listings: stations.reduce((sum, station) => sum + listingCount(station), 0),
    write: printError,
    columns: () => (env['TERM'] === 'dumb' ? undefined : errorColumns()),
  });
}

function configuredStation(config: Config, name: string): ResourceSpec {
  const stations = resolveStations(config);
  const station = stations.find((candidate) => candidate.name === name);
  if (station) return station;
  const names = stations.map((candidate) => candidate.name);
  throw new OperatorError([
    `unknown station ${quoted(name)}${suggestion(name, names)}`,
    `configured stations: ${listed(names)}`,
  ]);
}

const MAX_PRINTED_REASONS = 20;

function warnings({ station, snapshot }: StationReading): readonly string[] {
  const incomplete = `the listing of ${quoted(station.name)} is not verified complete`;
  return firstOf(
    snapshot.incompleteReasons.map(({ text }) => `${incomplete}: ${printable(text)}`),
    MAX_PRINTED_REASONS,
    (more) => `${incomplete} for ${countText(more, 'more reason')}`,
  );
}
