import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { RESOURCE_FORMATS } from '../cli/resource-formats.ts';
import { type Selection, selectResources } from '../station/selection.ts';
import { TaskQueue } from '../station/task-queue.ts';
import type { ProcessContext } from './process-context.ts';
import { readStation } from './read-station.ts';

/** Prints the resources of a station; only data goes to stdout. */
export async function list(context: ProcessContext, flags: FlagValues, name: string): Promise<void> {
  const { snapshot } = await readStation(context, flags, name);
  const selected = await selectResources(snapshot.parts, selectionOf(flags), flags.sort, new TaskQueue());
  const shown = selected.slice(0, flags.limit);
  await writePieces(context.stdout, RESOURCE_FORMATS[flags.format](shown));
  if (context.errorColumns() !== undefined) context.printError(`${shown.length} of ${snapshot.size} resources\n`);
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
