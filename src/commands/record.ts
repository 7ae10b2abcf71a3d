import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { recordingPieces, StationRecorder } from '../recording/station-recorder.ts';
import { OperatorError, type ProcessContext } from './process-context.ts';
import { readStation } from './read-station.ts';

/** Records the responses for a station with anonymized IDs and names; a failed listing leaves no file. */
export function record(context: ProcessContext, flags: FlagValues, name: string): Promise<void> {
  const recordTo = async (out: Writable) => {
    const recorder = new StationRecorder();
    const { station, snapshot } = await readStation(context, flags, name, (page) => recorder.add(page));
    await writePieces(out, recordingPieces(recorder.recording(station)));
    if (context.errorColumns() !== undefined) context.printError(`recorded ${snapshot.size} resources, ${snapshot.pages} pages\n`);
  };
  return flags.output === '-' ? recordTo(context.stdout) : withNewFile(flags.output, recordTo);
}

/** Creates a new file and removes it again when writing fails. */
export async function withNewFile(file: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const out = (await create(file)).createWriteStream();
  // Handled below; without a listener, an error between two writes would crash the process.
  out.on('error', () => undefined);
  try {
    await write(out);
    await finished(out.end());
  } catch (error) {
    out.destroy();
    await rm(file);
    // The stream's own error is the cause of the failed write.
    const cause = out.errored ?? error;
    throw isWriteError(cause) ? unwritable(file, cause) : cause;
  }
}

async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx');
  } catch (error) {
    throw unwritable(file, error as Error);
  }
}

function unwritable(file: string, error: Error): OperatorError {
  const problem =
    'code' in error && error.code === 'EEXIST' ? 'already exists and is not overwritten' : `cannot be written: ${error.message}`;
  return new OperatorError([`${file}: ${problem}`], error);
}

function isWriteError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write';
}
