import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { PROGRAM } from '../cli/commands.ts';
import { writePieces } from '../cli/data-output.ts';
import type { FlagValues } from '../cli/flags.ts';
import { sizeText } from '../cli/human-units.ts';
import { quoted } from '../config/problem.ts';
import { RECORDED_FIELDS } from '../recording/anonymous-record.ts';
import { recordingPieces, StationRecorder } from '../recording/station-recorder.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import { OperatorError, type ProcessContext } from './process-context.ts';
import { readStation } from './read-station.ts';

/** Records the responses for a station with anonymized IDs and names; a failed listing leaves no file. Only data goes to stdout. */
export async function record(context: ProcessContext, flags: FlagValues, name: string): Promise<void> {
  let summary = '';
  const recordTo = async (out: Writable) => {
    const recorder = new StationRecorder();
    const { station, snapshot } = await readStation(context, flags, name, (page) => recorder.add(page));
    const written = countedBytes(recordingPieces(recorder.recording(station)));
    await writePieces(out, written.pieces);
    summary = summaryText(name, snapshot, written.bytes(), flags.output);
  };
  await (flags.output === '-' ? recordTo(context.stdout) : withNewFile(flags.output, recordTo));
  context.printError(summary);
}

function countedBytes(pieces: Iterable<string>): { readonly pieces: Iterable<string>; readonly bytes: () => number } {
  let bytes = 0;
  function* counted() {
    for (const piece of pieces) {
      bytes += Buffer.byteLength(piece);
      yield piece;
    }
  }
  return { pieces: counted(), bytes: () => bytes };
}

/** For the operator to decide whether to pass the file on. */
function summaryText(name: string, { size, pages }: Snapshot, bytes: number, output: string): string {
  const { replaced, kept } = RECORDED_FIELDS;
  const file = output === '-' ? 'FILE' : output;
  return [
    `recorded ${size} resources of ${quoted(name)}, ${pages} pages, ${sizeText(bytes)}, to ${output === '-' ? 'standard output' : output}`,
    `anonymized: ${replaced.join(', ')}, the path of the station, and IDs and names in its filters`,
    `as received: ${kept.join(', ')}; other fields are not recorded`,
    `to replay it: ${PROGRAM} simulate --from=${shellWord(file)}`,
    '',
  ].join('\n');
}

function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
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
    'code' in error && error.code === 'EEXIST'
      ? 'already exists and is not overwritten'
      : `cannot be written: ${error.message}`;
  return new OperatorError([`${file}: ${problem}`], error);
}

function isWriteError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write';
}
