import { writeToStream } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { resourceTable } from '../cli/resource-table.ts';
import { paragraph } from '../cli/wrap.ts';
import { columnsWith, type Resource, type ResourceColumn } from '../resources/fields.ts';
import {
  type Selection,
  selectResources,
  type UnmatchedFilter,
  unmatchedFilters,
  VALUE_FILTERS,
} from '../resources/selection.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { csvPieces, jsonPieces, printable } from '../text/records.ts';
import { countText, firstOf, numberText } from '../text/words.ts';
import { checkLabels } from './label-flags.ts';
import { OperatorError, type ProcessContext, screenOf } from './process-context.ts';
import { readStation } from './read-station.ts';

/** What was printed is data, but some may be missing: a script must not take it for all. */
const INCOMPLETE_EXIT_CODE = 2;

/** Prints the resources of a station; only data goes to stdout. Resolves with the exit code. */
export async function list(context: ProcessContext, flags: FlagValues, name: string): Promise<number> {
  const configured = ({ resourceLabels }: ResourceSpec) => {
    chosenColumns(flags, resourceLabels.names);
    checkLabels(flags, resourceLabels.names);
  };
  const { snapshot, station } = await readStation(context, flags, name, { configured });
  const selection = selectionOf(flags);
  const searched = { parts: snapshot.parts, alertability: station.alertability };
  const selected = await selectResources(searched, selection, flags.sort);
  const shown = selected.slice(0, flags.limit);
  const known = columnsWith(station.resourceLabels.names);
  const columns = chosenColumns(flags, station.resourceLabels.names);
  const { lines, omitted } = formatted(shown, known, { ...flags, columns }, context);
  await writeToStream(context.stdout, lines);
  if (selected.length === 0) {
    for (const unmatched of await unmatchedFilters(snapshot.parts, selection))
      context.printError(`${unmatchedText(unmatched)}\n`);
  }
  const exitCode = snapshot.complete ? 0 : INCOMPLETE_EXIT_CODE;
  const width = context.errorColumns();
  if (width === undefined) return exitCode;
  const hint =
    omitted.length === 0 ? '' : `; columns not shown: ${omitted.join(', ')} (--wide shows all, --columns some)`;
  // With a filter, a limit would otherwise look like the number of matches.
  const isCut = shown.length < selected.length && selected.length < snapshot.size;
  const total = isCut
    ? `${countText(selected.length, 'matching resource')}, ${numberText(snapshot.size)} in all`
    : countText(snapshot.size, 'resource');
  context.printError(`${paragraph(`${numberText(shown.length)} of ${total}${hint}`, width || undefined)}\n`);
  return exitCode;
}

/** Throws an OperatorError for a column that the station does not have. */
function chosenColumns({ columns }: FlagValues, labelNames: readonly string[]): readonly string[] | undefined {
  const known = Object.keys(columnsWith(labelNames));
  const unknown = columns?.find((name) => !known.includes(name));
  if (unknown === undefined) return columns;
  throw new OperatorError([
    `--columns: expected names out of ${known.join(', ')}, got ${quoted(unknown)}${suggestion(unknown, known)}`,
  ]);
}

/** The text in pieces, and the columns of a table for which the terminal is too narrow. */
function formatted(
  resources: readonly Resource[],
  known: ReturnType<typeof columnsWith>,
  { format, columns, wide }: Pick<FlagValues, 'format' | 'columns' | 'wide'>,
  context: ProcessContext,
) {
  if (format === 'table') return resourceTable(resources, columns, screenOf(context, wide), known);
  const chosen = columns && Object.fromEntries(columns.map((name) => [name, known[name] as ResourceColumn]));
  const pieces = format === 'json' ? jsonPieces : csvPieces;
  return { lines: pieces(chosen ?? known, resources), omitted: [] };
}

/** Omits flags that were not given. */
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

/** The most frequent values first. */
function unmatchedText({ filter, given, present }: UnmatchedFilter): string {
  const values = [...present].toSorted(([, a], [, b]) => b - a).map(([value, count]) => `${quoted(value)} (${count})`);
  const listed = firstOf(values, MAX_VALUES).join(', ');
  const flag = VALUE_FILTERS.includes(filter) ? filter.replace('_', '-') : `label=${filter}`;
  return printable(`--${flag}: no resource has ${quoted(given)}; values present: ${listed || 'none'}`);
}
