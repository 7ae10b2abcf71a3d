import { upstreamOptions, userAgentOf } from '../app/wiring.ts';
import type { FlagValues } from '../cli/flags.ts';
import { ListProgress } from '../cli/list-progress.ts';
import { printable } from '../cli/table.ts';
import type { LoadResult } from '../config/load.ts';
import { suggestion } from '../config/nearest.ts';
import { formatProblem, quoted } from '../config/problem.ts';
import { resolveStations } from '../config/resolve.ts';
import type { Config } from '../config/schema.ts';
import { ListingFailure } from '../station/failure.ts';
import { type Snapshot, SnapshotReader, takeSnapshot } from '../station/snapshot.ts';
import type { StationSpec } from '../station/station-spec.ts';
import { TaskQueue } from '../station/task-queue.ts';
import { UpstreamClient } from '../upstream/client.ts';
import { type ListedPage, noopObserver } from '../upstream/observer.ts';
import { stationSource } from '../upstream/station-source.ts';
import { withConfig } from './config-source.ts';
import { Interrupted, OperatorError, type ProcessContext, terminationSignal } from './process-context.ts';

interface StationReading {
  readonly station: StationSpec;
  readonly snapshot: Snapshot;
}

/**
 * Asks the service for one snapshot of a configured station, by the same parts that serve it, and shows on a terminal how far that is.
 * What makes the snapshot doubtful is told before it is handed over.
 */
export async function readStation(
  context: ProcessContext,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  name: string,
  received: (page: ListedPage) => void = () => undefined,
): Promise<StationReading> {
  return withConfig(context, flags, async (load) => askFor(context, await load(), name, received));
}

async function askFor(
  context: ProcessContext,
  loaded: LoadResult,
  name: string,
  received: (page: ListedPage) => void,
): Promise<StationReading> {
  if (!loaded.ok) throw new OperatorError(loaded.problems.map(formatProblem));
  const station = knownStation(loaded.config, name);
  const progress = new ListProgress({
    station: name,
    listings: 1 + station.products.length + (station.alertability && station.filters.enabledAlert !== true ? 1 : 0),
    write: context.printError,
    columns: () => (context.env['TERM'] === 'dumb' ? undefined : context.errorColumns()),
  });
  const config = loaded.config.upstreams[station.upstream] as Config['upstreams'][string];
  const options = upstreamOptions(station.upstream, config, userAgentOf(context.build));
  const client = new UpstreamClient(options, { ...noopObserver, retried: () => progress.retried() });
  const pageReceived = (page: ListedPage) => {
    progress.pageReceived({ ...page, listing: JSON.stringify([page.rows, page.query.filters]) });
    received(page);
  };
  const source = stationSource((...page) => client.get(...page), options, new TaskQueue(), { pageReceived });
  const over = new AbortController();
  const end = terminationSignal(context, over.signal);
  try {
    const snapshot = await takeSnapshot(new SnapshotReader(station, source), station, end);
    progress.clear();
    for (const warning of warnings(name, snapshot)) context.printError(`warning: ${warning}\n`);
    return { station, snapshot };
  } catch (error) {
    progress.clear();
    if (end.aborted) throw new Interrupted(end.reason as NodeJS.Signals);
    if (!(error instanceof ListingFailure)) throw error;
    throw new OperatorError([`cannot list ${quoted(name)}: ${error.reason}: ${printable(error.message)}`], error);
  } finally {
    over.abort();
    await client.close();
  }
}

function knownStation(config: Config, name: string): StationSpec {
  const stations = resolveStations(config);
  const station = stations.find((candidate) => candidate.name === name);
  if (station) return station;
  const names = stations.map((candidate) => candidate.name);
  const known = names.slice(0, MOST_NAMES).map(quoted).join(', ');
  const further = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  throw new OperatorError([`no station is called ${quoted(name)}${suggestion(name, names)}`, `configured: ${known}${further}`]);
}

const MOST_NAMES = 20;

function warnings(name: string, { incompleteReasons: doubts, rejected }: Snapshot): readonly string[] {
  const leftOut = rejected === 0 ? [] : [`records of ${quoted(name)} without a usable resource_id are left out: ${rejected}`];
  return [...doubts.map((doubt) => `the listing of ${quoted(name)} is not proven whole: ${printable(doubt)}`), ...leftOut];
}
