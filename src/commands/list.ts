import { writeToStream } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { resourceTable } from '../cli/resource-table.ts';
import { paragraph } from '../cli/wrap.ts';
import { type Selection, type StationResource, searchStations, unknownCoverageIn } from '../query/selection.ts';
import { columnsWith, type Resource, type ResourceColumn } from '../resources/fields.ts';
import { csvPieces, jsonPieces } from '../text/records.ts';
import { countText, numberText } from '../text/words.ts';
import { type ProcessContext, screenOf } from './process-context.ts';
import { checkLabels, readStations } from './read-station.ts';

/** What was printed is data, but some may be missing: a script must not take it for all. */
const INCOMPLETE_EXIT_CODE = 2;

/** Prints the resources of a station, or of all; only data goes to stdout. Resolves with the exit code. */
export async function list(context: ProcessContext, flags: FlagValues, operand: string): Promise<number> {
  const name = operand === '' ? undefined : operand;
  const { readings, failures, labels } = await readStations(context, flags, name, {
    configured: (names) => checkLabels(flags, names),
  });
  for (const failure of failures) context.printError(`${failure}\n`);
  const searched = readings.map(({ station, snapshot: { parts } }) => ({ ...station, parts }));
  const selection = selectionOf(flags);
  const { found } = await searchStations(searched, selection, flags.sort);
  const shown = await found.rows(0, flags.limit);
  const columns = name === undefined ? columnsOfAll(labels, shown) : columnsWith(labels);
  const { lines, omitted } = formatted(shown, columns, flags, context);
  await writeToStream(context.stdout, lines);
  const ofUnknown = unknownCoverageIn(selection);
  const unknown = ofUnknown ? (await searchStations(searched, ofUnknown)).found.total : 0;
  if (unknown > 0)
    context.printError(`warning: alert coverage unknown for ${countText(unknown, 'resource')}, not printed\n`);
  const isComplete = unknown === 0 && readings.every(({ snapshot }) => snapshot.complete);
  const exitCode = exitCodeOf(isComplete, failures);
  const width = context.errorColumns();
  if (width === undefined) return exitCode;
  const size = readings.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const hint = omitted.length === 0 ? '' : `; columns not shown: ${omitted.join(', ')} (--wide shows all)`;
  // With a filter, a limit would otherwise look like the number of matches.
  const isCut = shown.length < found.total && found.total < size;
  const total = isCut
    ? `${countText(found.total, 'matching resource')}, ${numberText(size)} in all`
    : countText(size, 'resource');
  context.printError(`${paragraph(`${numberText(shown.length)} of ${total}${hint}`, width || undefined)}\n`);
  return exitCode;
}

function exitCodeOf(isComplete: boolean, failures: readonly string[]): number {
  if (failures.length > 0) return 1;
  return isComplete ? 0 : INCOMPLETE_EXIT_CODE;
}

type ListColumns = Readonly<Record<string, ResourceColumn>>;

/** The columns of resources of several stations, of which the name of the station is the first. */
function columnsOfAll(labels: readonly string[], rows: readonly StationResource[]): ListColumns {
  const stations = new Map(rows.map(({ station, resource }) => [resource, station]));
  const cell = (resource: Resource) => stations.get(resource);
  return { station: { heading: 'STATION', rank: 0, cell }, ...columnsWith(labels) };
}

/** The text in pieces, and the columns of a table for which the terminal is too narrow. */
function formatted(
  rows: readonly StationResource[],
  columns: ListColumns,
  { format, wide }: FlagValues,
  context: ProcessContext,
) {
  const resources = rows.map(({ resource }) => resource);
  if (format === 'table') return resourceTable(resources, columns, screenOf(context, wide));
  const pieces = format === 'json' ? jsonPieces : csvPieces;
  return { lines: pieces(columns, resources), omitted: [] };
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
