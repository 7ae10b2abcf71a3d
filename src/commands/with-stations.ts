import {
  endGeneration,
  type Generation,
  nextGeneration,
  type ServicesOptions,
  sharedServices,
} from '../app/composition.ts';
import { createLogger } from '../app/logger.ts';
import type { LoadedConfig } from '../config/load.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { interruption, type ProcessContext, terminationSignal } from './process-context.ts';

type StationsOptions = Pick<ServicesOptions, 'observer' | 'shard'>;

const COMMAND_COMPRESSORS = 4;

/** A command that reads stations once prints what happens. */
const NO_LOG = createLogger({ level: 'error', format: 'logfmt', write: () => undefined });

/**
 * Builds the stations with the components that `serve` uses, and closes them when the work ends. A termination signal abandons the work.
 */
export async function withStations<Result>(
  context: ProcessContext,
  loaded: LoadedConfig,
  options: StationsOptions,
  work: (generation: Generation) => Promise<Result>,
): Promise<Result> {
  const services = sharedServices(loaded, { build: context.build, log: NO_LOG, ...options }, COMMAND_COMPRESSORS);
  const generation = await nextGeneration(loaded, undefined, services, (next) => next);
  const done = new AbortController();
  const signal = terminationSignal(context, done.signal);
  try {
    return await untilAborted(work(generation), signal);
  } catch (error) {
    throw signal.aborted ? interruption(signal) : error;
  } finally {
    done.abort();
    await endGeneration(generation, undefined);
  }
}
