import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import type { LoadedConfig } from '../config/load.ts';
import { formatProblems, listed } from '../config/problem.ts';
import { resolveStations } from '../config/resolve.ts';
import type { Health } from '../model/health.ts';
import type { Resources } from '../resources/collector.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ListedPage } from '../service/request-observer.ts';
import type { StationCache } from '../stations/station-cache.ts';
import { cacheNote } from '../status/station-status.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { printable } from '../text/records.ts';
import { countText, firstOf } from '../text/words.ts';
import { withConfig } from './config-source.ts';
import type { ProcessContext } from './process-context.ts';
import { withStations } from './with-stations.ts';

export interface StationReading extends Pick<Health, 'cached'> {
  readonly station: ResourceSpec;
  readonly snapshot: Snapshot;
}

interface StationReadings {
  readonly readings: readonly StationReading[];
  /** Why the other stations could not be read. */
  readonly failures: readonly string[];
  /** The names of `resource_labels`. */
  readonly labels: readonly string[];
}

interface ReadingObserver {
  /** Called with the names of `resource_labels` before the service is queried; may throw. */
  readonly configured?: (labelNames: readonly string[]) => void;
  readonly received?: (page: ListedPage) => void;
}

/**
 * Takes one snapshot of each configured station, or of the named one, with the components that `serve` uses. Prints warnings about
 * incomplete snapshots. Throws an OperatorError if every station fails.
 */
export async function readStations(
  context: ProcessContext,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  name: string | undefined,
  { configured, received }: ReadingObserver,
): Promise<StationReadings> {
  return withConfig(context, flags, async (load) => {
    const all = await load();
    if (!all.ok) throw new OperatorError(formatProblems(all.problems));
    const loaded = name === undefined ? all : onlyStation(all, name);
    const stations = resolveStations(loaded.config);
    const labels = stations[0]?.resourceLabels.names ?? [];
    configured?.(labels);
    const options = {
      shard: { ordinal: 0, total: 1 },
      observer: received ? { pageReceived: received } : {},
    };
    const outcomes = await withStations(context, loaded, options, (generation) =>
      Promise.all(Array.from(generation.stations.values(), reading)),
    );
    const readings = outcomes.filter((outcome) => typeof outcome !== 'string');
    const failures = outcomes.filter((outcome) => typeof outcome === 'string');
    if (readings.length === 0 && failures.length > 0) throw new OperatorError(failures);
    for (const warning of readings.flatMap(warnings)) context.printError(`warning: ${warning}\n`);
    return { readings, failures, labels };
  });
}

/** What a refresh has read, or why it failed; throws an error of the exporter itself. */
async function reading(station: StationCache<Resources>): Promise<StationReading | string> {
  await station.refresh();
  const { spec, health, served } = station.view();
  if (served) return { station: spec, snapshot: served.data.snapshot, cached: health.cached };
  const { reason, message, error } = health.failure ?? {};
  if (reason === undefined || reason === 'internal') throw error;
  return `cannot list ${quoted(spec.name)}: ${reason}: ${printable(`${message}`)}`;
}

function onlyStation<Loaded extends LoadedConfig>(loaded: Loaded, name: string): Loaded {
  const { config } = loaded;
  const stations = resolveStations(config);
  const index = stations.findIndex((station) => station.name === name);
  const upstream = stations[index]?.upstream;
  if (upstream === undefined) {
    const names = stations.map((station) => station.name);
    throw new OperatorError([
      `unknown station ${quoted(name)}${suggestion(name, names)}`,
      `configured stations: ${listed(names)}`,
    ]);
  }
  const upstreams = Object.fromEntries(Object.entries(config.upstreams).filter(([key]) => key === upstream));
  return { ...loaded, config: { ...config, upstreams, stations: config.stations.slice(index, index + 1) } };
}

const MAX_PRINTED_REASONS = 20;

function warnings({ station, snapshot, cached }: StationReading): readonly string[] {
  const incomplete = `the listing of ${quoted(station.name)} is not verified complete`;
  const reasons = firstOf(
    snapshot.incompleteReasons.map(({ text }) => `${incomplete}: ${printable(text)}`),
    MAX_PRINTED_REASONS,
    (more) => `${incomplete} for ${countText(more, 'more reason')}`,
  );
  const note = cacheNote({ cached });
  return note === undefined ? reasons : [...reasons, `${quoted(station.name)}: ${note}`];
}

/** Throws an OperatorError for a label that no entry of `resource_labels` has, or that is given twice. */
export function checkLabels({ label }: Pick<FlagValues, 'label'>, labelNames: readonly string[]): void {
  const given = label.map((filter) => filter.label);
  const repeated = given.find((name, at) => given.indexOf(name) < at);
  if (repeated !== undefined)
    throw new OperatorError([`--label: expected each label at most once, got ${quoted(repeated)} again`]);
  const unknown = given.find((name) => !labelNames.includes(name));
  if (unknown !== undefined)
    throw new OperatorError([
      `--label: expected a label of resource_labels, ${listed(labelNames) || 'which has none'}, got ${quoted(unknown)}`,
    ]);
}
