import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { PROGRAM } from '../cli/commands.ts';
import { writeToStream } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { recordingPieces, StationRecorder } from '../recording/station-recorder.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { quoted } from '../text/quoted.ts';
import { countText } from '../text/words.ts';
import type { ProcessContext } from './process-context.ts';
import { readStations, type StationReading } from './read-station.ts';

/** Records the responses for a station with anonymized IDs and names; a failed listing leaves no file. Only data goes to stdout. */
export async function record(context: ProcessContext, flags: FlagValues, name: string): Promise<void> {
  const { output } = flags;
  const isFile = output !== '-';
  if (isFile && existsSync(output)) throw new OperatorError([`${output}: already exists and is not overwritten`]);
  const recorder = new StationRecorder();
  const { readings } = await readStations(context, flags, name, { received: (page) => recorder.add(page) });
  const { station, snapshot } = readings[0] as StationReading;
  const pieces = recordingPieces(recorder.recording(station));
  await (isFile ? writeNewFile(output, pieces) : writeToStream(context.stdout, pieces));
  context.printError(summaryText(name, snapshot, output));
}

/** What an operator needs to decide whether to pass the file on. */
function summaryText(name: string, { size, pages }: Snapshot, output: string): string {
  const file = output === '-' ? 'FILE' : output;
  return [
    `recorded ${countText(size, 'resource')} of ${quoted(name)}, ${countText(pages, 'page')}, to ${output === '-' ? 'standard output' : output}`,
    'anonymized: IDs and names of resources, also in filters, and the path of the station',
    `to replay it: ${PROGRAM} simulate --from=${file}`,
    '',
  ].join('\n');
}

export async function writeNewFile(file: string, pieces: Iterable<string>): Promise<void> {
  try {
    await writeFile(file, pieces, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') await rm(file, { force: true });
    throw new OperatorError([`${file}: cannot be written: ${message}`], error);
  }
}
