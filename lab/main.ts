import { readFile } from 'node:fs/promises';
import type { FlagValues } from '../src/cli/flags.ts';
import { OperatorError } from '../src/cli/operator-error.ts';
import type { Recording } from '../src/recording/recording.ts';
import { NAMED_FAULTS, slow } from './simulator/faults.ts';
import { parseRecording, startReplay } from './simulator/replay.ts';
import { type ConfiguredService, startSimulation } from './simulator/simulation.ts';
import { simulatedStations } from './simulator/stations.ts';

/** The service of `--demo`. Its stations are refreshed in the background, because a demo without Prometheus is not scraped. */
export function startDemo(): Promise<ConfiguredService> {
  return startSimulation({ refresh: 'background' });
}

/** The service that the flags of `simulate` describe. */
export async function startFromFlags(flags: FlagValues): Promise<ConfiguredService> {
  const options = {
    port: flags['simulate.port'],
    seed: flags['simulate.seed'],
    compression: flags.compression,
    faults: [
      slow(flags['simulate.latency']),
      ...flags['simulate.fault'].map(({ name, share }) => ({ ...NAMED_FAULTS[name], share })),
    ],
  };
  if (flags.from !== undefined) return startReplay(await loadRecording(flags.from), options);
  return startSimulation({
    ...options,
    stations: simulatedStations({ stations: flags['simulate.stations'], resources: flags['simulate.resources'] }),
  });
}

async function loadRecording(file: string): Promise<Recording> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new OperatorError([`${file}: cannot be read: ${error.message}`], error);
  });
  const read = parseRecording(text);
  if (!read.ok) throw new OperatorError(read.problems.map((problem) => `${file}: ${problem}`));
  return read.recording;
}
