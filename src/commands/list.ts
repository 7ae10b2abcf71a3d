import { writeToStream } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { resourceTable } from '../cli/resource-table.ts';
import { paragraph } from '../cli/wrap.ts';
import { columnsWith, type Resource, type ResourceColumn } from '../resources/fields.ts';
import {
  type Selection,
  searchStations,
  type UnmatchedFilter,
  unmatchedFilters,
  VALUE_FILTERS,
} from '../resources/selection.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { csvPieces, jsonPieces, printable } from '../text/records.ts';
import { countText, firstOf, numberText } from '../text/words.ts';
import { OperatorError, type ProcessContext, screenOf } from './process-context.ts';
import { checkLabels, readStations, type StationReading } from './read-station.ts';

/** What was printed is data, but some may be missing: a script must not take it for all. */
const INCOMPLETE_EXIT_CODE = 2;

/** Prints the resources of a station, or of all; only data goes to stdout. Resolves with the exit code. */
export async function list(context: ProcessContext, flags: FlagValues, operand: string): Promise<number> {
  const name = operand === '' ? undefined : operand;
  const stationOf = new Map<Resource, string>();
  let known: KnownColumns = {};
  const configured = (stations: readonly ResourceSpec[]) => {
    const labels = stations[0]?.resourceLabels.names ?? [];
    known = knownColumns(name, labels, stationOf);
    checkColumns(flags, Object.keys(known));
    checkLabels(flags, labels);
  };
  const { readings, failures } = await readStations(context, flags, name, { configured });
  for (const failure of failures) context.printError(`${failure}\n`);
  const selection = selectionOf(flags);
  const searched = readings.map(({ station, snapshot: { parts } }) => ({ ...station, parts }));
  const { found } = await searchStations(searched, selection, flags.sort);
  const shown = found.slice(0, flags.limit);
  for (const { resource, station } of shown) stationOf.set(resource, station);
  const resources = shown.map(({ resource }) => resource);
  const { lines, omitted } = formatted(resources, known, flags, context);
  await writeToStream(context.stdout, lines);
  if (found.length === 0) {
    const parts = readings.flatMap(({ snapshot }) => snapshot.parts);
    for (const unmatched of await unmatchedFilters(parts, selection))
      context.printError(`${unmatchedText(unmatched)}\n`);
  }
  const exitCode = exitCodeOf(readings, failures);
  const width = context.errorColumns();
  if (width === undefined) return exitCode;
  const size = readings.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const hint =
    omitted.length === 0 ? '' : `; columns not shown: ${omitted.join(', ')} (--wide shows all, --columns some)`;
  // With a filter, a limit would otherwise look like the number of matches.
  const isCut = shown.length < found.length && found.length < size;
  const total = isCut
    ? `${countText(found.length, 'matching resource')}, ${numberText(size)} in all`
    : countText(size, 'resource');
  context.printError(`${paragraph(`${numberText(shown.length)} of ${total}${hint}`, width || undefined)}\n`);
  return exitCode;
}

function exitCodeOf(readings: readonly StationReading[], failures: readonly string[]): number {
  if (failures.length > 0) return 1;
  return readings.every(({ snapshot }) => snapshot.complete) ? 0 : INCOMPLETE_EXIT_CODE;
}

type KnownColumns = Readonly<Record<string, ResourceColumn>>;

/** The columns of resources; for those of all stations, the station is the first one. */
function knownColumns(
  name: string | undefined,
  labelNames: readonly string[],
  stationOf: ReadonlyMap<Resource, string>,
): KnownColumns {
  const columns = columnsWith(labelNames);
  const cell = (resource: Resource) => stationOf.get(resource) ?? null;
  return name === undefined ? { station: { heading: 'STATION', rank: 0, cell }, ...columns } : columns;
}

function checkColumns({ columns = [] }: FlagValues, known: readonly string[]): void {
  const unknown = columns.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new OperatorError([
    `--columns: expected names out of ${known.join(', ')}, got ${quoted(unknown)}${suggestion(unknown, known)}`,
  ]);
}

/** The text in pieces, and the columns of a table for which the terminal is too narrow. */
function formatted(
  resources: readonly Resource[],
  known: KnownColumns,
  { format, columns, wide }: Pick<FlagValues, 'format' | 'columns' | 'wide'>,
  context: ProcessContext,
) {
  if (format === 'table') return resourceTable(resources, columns, screenOf(context, wide), known);
  const chosen = columns && Object.fromEntries(columns.map((name) => [name, known[name] as ResourceColumn]));
  const pieces = format === 'json' ? jsonPieces : csvPieces;
  return { lines: pieces(chosen ?? known, resources), omitted: [] };
}

function selectionOf(flags: FlagValues): Selection {
  const given = SELECTION_FLAGS.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]]);
  const labels = flags.label.map(({ label, value }) => [label, value]);
  const alertState = flags['alert-state'];
  return {
    ...Object.fromEntries([...given, ...labels]),
    ...(alertState && { alert_state: alertState }),
    ...(flags['without-rules'] && { without_rules: 'yes' }),
  };
}

const SELECTION_FLAGS = ['search', 'type', 'product', 'state', 'alertable'] as const;

const MAX_VALUES = 20;

function unmatchedText({ filter, given, present }: UnmatchedFilter): string {
  const values = [...present].toSorted(([, a], [, b]) => b - a).map(([value, count]) => `${quoted(value)} (${count})`);
  const listed = firstOf(values, MAX_VALUES).join(', ');
  const flag = VALUE_FILTERS.includes(filter) ? filter.replace('_', '-') : `label=${filter}`;
  return printable(`--${flag}: no resource has ${quoted(given)}; values present: ${listed || 'none'}`);
}
