import {
  endGeneration,
  type Generation,
  nextGeneration,
  type ServicesOptions,
  sharedServices,
} from '../app/composition.ts';
import { createLogger } from '../app/logger.ts';
import { ListProgress } from '../cli/list-progress.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Shard } from '../stations/shard.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { interruption, type ProcessContext, terminationSignal } from './process-context.ts';

interface StationsOptions extends Pick<ServicesOptions, 'observer'> {
  /** Of the progress line. */
  readonly title: string;
  readonly shard: Shard;
}

const COMMAND_COMPRESSORS = 4;

/** A command that reads stations once prints what happens. */
const NO_LOG = createLogger({ level: 'error', format: 'logfmt', write: () => undefined });

/**
 * Builds the stations with the components that `serve` uses, shows progress on a terminal, and closes the stations when the work ends. A
 * termination signal abandons the work.
 */
export async function withStations<Result>(
  context: ProcessContext,
  loaded: LoadedConfig,
  { title, shard, observer = {} }: StationsOptions,
  work: (generation: Generation) => Promise<Result>,
): Promise<Result> {
  const progress = new ListProgress({
    title,
    write: context.printError,
    columns: () => (context.env['TERM'] === 'dumb' ? undefined : context.errorColumns()),
  });
  const shown: typeof observer = {
    ...observer,
    retried: () => progress.retried(),
    pageReceived: (page) => {
      progress.pageReceived();
      observer.pageReceived?.(page);
    },
  };
  const options = { build: context.build, shard, log: NO_LOG, observer: shown };
  const services = sharedServices(loaded, options, COMMAND_COMPRESSORS);
  const generation = await nextGeneration(loaded, undefined, services, (next) => next);
  const done = new AbortController();
  const signal = terminationSignal(context, done.signal);
  try {
    return await untilAborted(work(generation), signal);
  } catch (error) {
    throw signal.aborted ? interruption(signal) : error;
  } finally {
    done.abort();
    progress.clear();
    await endGeneration(generation, undefined);
  }
}
