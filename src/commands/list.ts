import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { RESOURCE_FORMATS } from '../cli/resource-formats.ts';
import { quoted } from '../config/problem.ts';
import { printable } from '../inventory/records.ts';
import { type Selection, selectResources, type UnmatchedFilter, unmatchedFilters } from '../inventory/selection.ts';
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
  const { pieces, omitted } = RESOURCE_FORMATS[flags.format](shown, {
    columns: flags.columns,
    screen: screenOf(context, flags.wide),
  });
  await writePieces(context.stdout, pieces);
  if (selected.length === 0) {
    for (const unmatched of await unmatchedFilters(snapshot.parts, selection, tasks))
      context.printError(`${unmatchedText(unmatched)}\n`);
  }
  if (context.errorColumns() === undefined) return;
  const hint =
    omitted.length === 0 ? '' : `; columns not shown: ${omitted.join(', ')} (--wide shows all, --columns some)`;
  // With a filter, a limit would otherwise look like the number of matches.
  const isCut = shown.length < selected.length && selected.length < snapshot.size;
  const total = isCut ? `${selected.length} matching resources, ${snapshot.size} in all` : `${snapshot.size} resources`;
  context.printError(`${shown.length} of ${total}${hint}\n`);
}

type SelectionFlags = Pick<FlagValues, 'search' | 'type' | 'product' | 'state' | 'alertable' | 'without-rules'>;

/** Omits flags that were not given. */
function selectionOf({ 'without-rules': withoutRules, ...given }: SelectionFlags): Selection {
  return {
    ...Object.fromEntries(SELECTION_FLAGS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))),
    withoutRules,
  };
}

const SELECTION_FLAGS = ['search', 'type', 'product', 'state', 'alertable'] as const;

const MAX_VALUES = 20;

/** The most frequent values first. */
function unmatchedText({ filter, given, present }: UnmatchedFilter): string {
  const values = [...present].toSorted(([, a], [, b]) => b - a).map(([value, count]) => `${quoted(value)} (${count})`);
  const more = values.length - MAX_VALUES;
  const listed = [...values.slice(0, MAX_VALUES), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  return printable(`--${filter}: no resource has ${quoted(given)}; values present: ${listed || 'none'}`);
}
