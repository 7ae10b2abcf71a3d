import { type EventEmitter, once } from 'node:events';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { CLEAR_LINE, type LogOutput } from '../cli/log-output.ts';
import { OperatorError } from '../cli/operator-error.ts';
import type { Screen } from '../cli/table.ts';
import type { Build } from '../exposition/own-metrics.ts';

export interface ProcessContext {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly logOutput: Pick<LogOutput, 'onResumed'>;
  /** Standard output as a stream, for data that needs backpressure. */
  readonly stdout: Writable;
  /** Width of the terminal on stderr; undefined when stderr is not a terminal. */
  readonly errorColumns: () => number | undefined;
  /** Width of the terminal on stdout, 0 when it is unknown; undefined when stdout is not a terminal. */
  readonly outputColumns: () => number | undefined;
  readonly signals: EventEmitter;
  readonly hostName: string;
  /** Has package.json and what is shipped beside the program. */
  readonly packageFolder: URL;
  readonly build: Build;
  /** How often the web configuration file is checked for changes; undefined: the default of `watchRules`. */
  readonly webConfigIntervalMs?: number;
}

/**
 * Aborts with the name of the first SIGTERM or SIGINT. The listeners are then removed, so that a second signal kills the process, and
 * also when `done` aborts. After Ctrl-C the line of the terminal is clean.
 */
export function terminationSignal(context: ProcessContext, done = new AbortController().signal): AbortSignal {
  const { signals, env, errorColumns, printError } = context;
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, done]);
  for (const name of ['SIGTERM', 'SIGINT']) {
    const abort = () => {
      // The terminal has shown ^C, after the progress if there is any.
      if (name === 'SIGINT' && errorColumns() !== undefined) printError(env['TERM'] === 'dumb' ? '\n' : CLEAR_LINE);
      controller.abort(name);
    };
    once(signals, name, { signal }).then(abort, () => undefined);
  }
  return controller.signal;
}

/** The terminal on stdout, if it is one; `wide` ignores its width. Colours follow https://no-color.org. */
export function screenOf(
  { env, outputColumns }: Pick<ProcessContext, 'env' | 'outputColumns'>,
  wide: boolean,
): Screen | undefined {
  const columns = outputColumns();
  if (columns === undefined) return undefined;
  const hasColours = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return { columns: wide || columns === 0 ? Number.POSITIVE_INFINITY : columns, hasColours };
}

/** The end by a signal before the work is done, with the exit code that shells show for it. */
export function interruption({ reason }: AbortSignal): OperatorError {
  return new OperatorError([], undefined, 128 + constants.signals[reason as NodeJS.Signals]);
}
