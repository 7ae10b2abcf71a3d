import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { RESOURCE_FORMATS } from '../cli/resource-formats.ts';
import { selectionOf } from '../cli/selection-flags.ts';
import { selectResources } from '../station/selection.ts';
import { Turns } from '../station/turns.ts';
import { askStation } from './ask-station.ts';
import type { Surface } from './surface.ts';

/** Prints the resources of a station: data alone goes to stdout. */
export async function list(surface: Surface, flags: FlagValues, name: string): Promise<void> {
  const { snapshot } = await askStation(surface, flags, name);
  const selected = await selectResources(snapshot.parts, selectionOf(flags), flags.sort, new Turns());
  const shown = selected.slice(0, flags.limit);
  await writePieces(surface.stdout, RESOURCE_FORMATS[flags.format](shown));
  if (surface.errorColumns() !== undefined) surface.printError(`${shown.length} of ${snapshot.size} resources\n`);
}
