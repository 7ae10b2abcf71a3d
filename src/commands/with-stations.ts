import {
  endGeneration,
  type Generation,
  nextGeneration,
  type ServicesOptions,
  sharedServices,
} from '../app/composition.ts';
import { Progress } from '../cli/progress.ts';
import type { LoadedConfig } from '../config/load.ts';
import { createLogger } from '../journal/logger.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { interruption, type ProcessContext, terminationSignal } from './process-context.ts';

type StationsOptions = Pick<ServicesOptions, 'observer' | 'shard'>;

const COMMAND_COMPRESSORS = 4;

/** A command that reads stations once prints what happens. */
const NO_LOG = createLogger({ level: 'error', format: 'logfmt', write: () => undefined });

/**
 * Builds the stations with the components that `serve` uses, shows on a terminal how far their refreshes are, and closes the stations when
 * the work ends. A termination signal abandons the work.
 */
export async function withStations<Result>(
  context: ProcessContext,
  loaded: LoadedConfig,
  options: StationsOptions,
  work: (generation: Generation) => Promise<Result>,
): Promise<Result> {
  const progress = progressOf(context);
  const observer = progress ? counting(progress, options.observer) : options.observer;
  const servicesOptions = { build: context.build, log: NO_LOG, ...options, ...(observer && { observer }) };
  const services = sharedServices(loaded, servicesOptions, COMMAND_COMPRESSORS);
  const generation = await nextGeneration(loaded, undefined, services, (next) => next);
  const painting = progress && startPainting(progress, generation);
  const done = new AbortController();
  const signal = terminationSignal(context, done.signal);
  try {
    return await untilAborted(work(generation), signal);
  } catch (error) {
    throw signal.aborted ? interruption(signal) : error;
  } finally {
    done.abort();
    clearInterval(painting);
    progress?.clear();
    await endGeneration(generation, undefined);
  }
}

type PageObserver = NonNullable<ServicesOptions['observer']>;

function counting(progress: Progress, observer: PageObserver | undefined): PageObserver {
  return {
    pageReceived: (page) => {
      progress.pageReceived();
      observer?.pageReceived?.(page);
    },
  };
}

/** undefined: nobody would see it, or the terminal cannot erase it. */
function progressOf({ env, errorColumns, printError }: ProcessContext): Progress | undefined {
  if (errorColumns() === undefined || env['TERM'] === 'dumb') return undefined;
  return new Progress({ write: printError, columns: () => errorColumns() ?? 0 });
}

const PAINT_INTERVAL_MS = 200;

function startPainting(progress: Progress, { stations }: Generation): NodeJS.Timeout {
  const paint = () =>
    progress.paint(
      Array.from(stations.values(), (station) => ({
        name: station.spec.name,
        isDone: station.wasAttempted && !station.isRefreshing,
        isWaiting: !station.isRefreshing || station.view().waitingMs !== undefined,
      })),
    );
  paint();
  return setInterval(paint, PAINT_INTERVAL_MS);
}
