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

interface StationReading {
  readonly station: ResourceSpec;
  readonly snapshot: Snapshot;
}

interface ReadingObserver {
  /** Called before the service is queried; may throw. */
  readonly configured?: (station: ResourceSpec) => void;
  readonly received?: (page: ListedPage) => void;
}

/**
 * Takes one snapshot of a configured station with the components that `serve` uses. Shows progress on a terminal and prints warnings
 * about an incomplete snapshot.
 */
export async function readStation(
  context: ProcessContext,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  name: string,
  { configured, received }: ReadingObserver,
): Promise<StationReading> {
  return withConfig(context, flags, async (load) => {
    const loaded = await load();
    if (!loaded.ok) throw new OperatorError(formatProblems(loaded.problems));
    const station = configuredStation(loaded.config, name);
    configured?.(station);
    const progress = progressOf(context, name, [station]);
    const observer = {
      retried: () => progress.retried(),
      pageReceived: (page: ListedPage) => {
        progress.pageReceived(page);
        received?.(page);
      },
    };
    const only = onlyStation(loaded, station);
    const services = commandServices(only, { build: context.build, shard: { ordinal: 0, total: 1 }, observer }, 1);
    const generation = await nextGeneration(only, undefined, services, (next) => next);
    const upstream = generation.upstreams.get(station.upstream) as Upstream;
    const source = upstream.newSource(station, generation.journals.get(name) as StationJournal);
    const done = new AbortController();
    const signal = terminationSignal(context, done.signal);
    try {
      const refresh = new Refresh(station, { signal, outdatedAtMs: 0 });
      const reader = new SnapshotReader(station, { source });
      const snapshot = await refresh.run((reading) => reader.read(reading, true));
      progress.clear();
      for (const warning of warnings(name, snapshot)) context.printError(`warning: ${warning}\n`);
      return { station, snapshot };
    } catch (error) {
      progress.clear();
      if (signal.aborted) throw interruption(signal);
      if (!(error instanceof ListingFailure)) throw error;
      throw new OperatorError([`cannot list ${quoted(name)}: ${error.reason}: ${printable(error.message)}`], error);
    } finally {
      done.abort();
      await endGeneration(generation, undefined);
    }
  });
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

function warnings(name: string, { incompleteReasons }: Snapshot): readonly string[] {
  const incomplete = `the listing of ${quoted(name)} is not verified complete`;
  return firstOf(
    incompleteReasons.map(({ text }) => `${incomplete}: ${printable(text)}`),
    MAX_PRINTED_REASONS,
    (more) => `${incomplete} for ${countText(more, 'more reason')}`,
  );
}
