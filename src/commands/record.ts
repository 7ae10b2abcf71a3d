import type { Writable } from 'node:stream';
import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { recordingPieces } from '../recording/recording-pieces.ts';
import { StationRecorder } from '../recording/station-recorder.ts';
import { askStation } from './ask-station.ts';
import { withNewFile } from './new-file.ts';
import type { Surface } from './surface.ts';

/** Writes down what the service answers for a station, without its ids and names; nothing when it cannot be listed. */
export function record(surface: Surface, flags: FlagValues, name: string): Promise<void> {
  const recordTo = async (out: Writable) => {
    const recorder = new StationRecorder();
    const { station, snapshot } = await askStation(surface, flags, name, (page) => recorder.add(page));
    await writePieces(out, recordingPieces(recorder.recording(station)));
    if (surface.errorColumns() !== undefined) surface.printError(`recorded ${snapshot.size} resources, ${snapshot.pages} pages\n`);
  };
  return flags.output === '-' ? recordTo(surface.stdout) : withNewFile(flags.output, recordTo);
}
