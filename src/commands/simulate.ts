import { once } from 'node:events';
import { PROGRAM } from '../cli/commands.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { type ProcessContext, terminationSignal } from './process-context.ts';

/** Runs the simulated service until a termination signal. Prints a complete configuration file for it, for `simulate > config.yaml`. */
export async function simulate(context: ProcessContext, flags: FlagValues): Promise<void> {
  const signal = terminationSignal(context);
  const { startFromFlags } = await import('../../lab/main.ts');
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
