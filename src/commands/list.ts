import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { resourceTable } from '../cli/resource-table.ts';
import { paragraph } from '../cli/wrap.ts';
import { quoted } from '../config/problem.ts';
import { csvPieces, jsonPieces, printable } from '../inventory/records.ts';
import { type Selection, selectResources, type UnmatchedFilter, unmatchedFilters } from '../inventory/selection.ts';
import { firstOf } from '../inventory/words.ts';
import { RESOURCE_COLUMNS, type Resource } from '../model/resource.ts';
import { TaskQueue } from '../model/task-queue.ts';
import { type ProcessContext, screenOf } from './process-context.ts';
import { readStation } from './read-station.ts';

/** Prints the resources of a station; only data goes to stdout. */
export async function list(context: ProcessContext, flags: FlagValues, name: string): Promise<void> {
  const { snapshot } = await readStation(context, flags, name);
  const tasks = new TaskQueue();
  const selection = selectionOf(flags);
  const selected = await selectResources(snapshot.parts, selection, flags.sort, tasks);
  const shown = selected.slice(0, flags.limit);
  const { lines, omitted } = formatted(shown, flags, context);
  await writePieces(context.stdout, lines);
  if (selected.length === 0) {
    for (const unmatched of await unmatchedFilters(snapshot.parts, selection, tasks))
      context.printError(`${unmatchedText(unmatched)}\n`);
  }
  const columns = context.errorColumns();
  if (columns === undefined) return;
  const hint =
    omitted.length === 0 ? '' : `; columns not shown: ${omitted.join(', ')} (--wide shows all, --columns some)`;
  // With a filter, a limit would otherwise look like the number of matches.
  const isCut = shown.length < selected.length && selected.length < snapshot.size;
  const total = isCut ? `${selected.length} matching resources, ${snapshot.size} in all` : `${snapshot.size} resources`;
  context.printError(`${paragraph(`${shown.length} of ${total}${hint}`, columns || undefined)}\n`);
}

/** The text in pieces, and the columns of a table for which the terminal is too narrow. */
function formatted(resources: readonly Resource[], { format, columns, wide }: FlagValues, context: ProcessContext) {
  if (format === 'table') return resourceTable(resources, columns, screenOf(context, wide));
  const chosen = columns && Object.fromEntries(columns.map((name) => [name, RESOURCE_COLUMNS[name]]));
  const pieces = format === 'json' ? jsonPieces : csvPieces;
  return { lines: pieces(chosen ?? RESOURCE_COLUMNS, resources), omitted: [] };
}

/** Omits flags that were not given. */
function selectionOf(flags: FlagValues): Selection {
  const given = SELECTION_FLAGS.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]]);
  return { ...Object.fromEntries(given), withoutRules: flags['without-rules'] };
}

const SELECTION_FLAGS = ['search', 'type', 'product', 'state', 'alertable'] as const;

const MAX_VALUES = 20;

/** The most frequent values first. */
function unmatchedText({ filter, given, present }: UnmatchedFilter): string {
  const values = [...present].toSorted(([, a], [, b]) => b - a).map(([value, count]) => `${quoted(value)} (${count})`);
  const listed = firstOf(values, MAX_VALUES).join(', ');
  return printable(`--${filter}: no resource has ${quoted(given)}; values present: ${listed || 'none'}`);
}
