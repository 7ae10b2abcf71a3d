import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { PROGRAM } from '../cli/commands.ts';
import type { FlagValues } from '../cli/flags.ts';
import { slow } from '../simulator/faults.ts';
import { parseRecording, type Recording, startReplay } from '../simulator/recording.ts';
import { startSimulation } from '../simulator/simulation.ts';
import { simulatedStations } from '../simulator/stations.ts';
import { OperatorError, type ProcessContext, terminationSignal } from './process-context.ts';

/** Runs the simulated service until a termination signal. Prints a complete configuration file for it, for `simulate > config.yaml`. */
export async function simulate(context: ProcessContext, flags: FlagValues): Promise<void> {
  const signal = terminationSignal(context);
  const { service, config } = await startFromFlags(flags).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'listen') throw error;
    const port = flags['simulate.port'];
    throw new OperatorError([`cannot listen on port ${port}: ${error.message}; --simulate.port sets the port`], error);
  });
  context.print(`# Simulated service on ${service.url}\n${config}`);
  context.printError(`The simulated service runs on ${service.url}; press Ctrl-C to stop it.
Save the configuration from standard output in config.yaml, and start the
exporter in a second terminal:

  ${PROGRAM} --config.file=config.yaml
`);
  if (!signal.aborted) await once(signal, 'abort');
  await service.stop();
}

async function startFromFlags(flags: FlagValues) {
  const options = {
    port: flags['simulate.port'],
    seed: flags['simulate.seed'],
    compression: flags.compression,
    faults: [slow(flags['simulate.latency']), ...flags['simulate.fault']],
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
