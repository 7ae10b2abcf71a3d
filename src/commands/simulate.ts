import { readFile } from 'node:fs/promises';
import type { FlagValues } from '../cli/flags.ts';
import { simulate } from '../cli/simulate.ts';
import { type Recording, readRecording } from '../demo/recording.ts';
import { OperatorError } from './operator-error.ts';
import { endOf, type Surface } from './surface.ts';

/** Runs the simulated service until a signal ends it. */
export async function runSimulation(surface: Surface, flags: FlagValues): Promise<void> {
  await simulate({
    port: flags['simulate.port'],
    seed: flags['simulate.seed'],
    stations: flags['simulate.stations'],
    resources: flags['simulate.resources'],
    pageCap: flags['simulate.page-cap'],
    latencyMs: flags['simulate.latency'],
    faults: flags['simulate.fault'],
    recording: flags.from === undefined ? undefined : await loadRecording(flags.from),
    print: surface.print,
    signal: endOf(surface),
  });
}

async function loadRecording(file: string): Promise<Recording> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new OperatorError([`${file}: cannot be read: ${(error as Error).message}`], error);
  }
  const read = readRecording(text);
  if (!read.ok) throw new OperatorError(read.problems.map((problem) => `${file}: ${problem}`));
  return read.recording;
}
