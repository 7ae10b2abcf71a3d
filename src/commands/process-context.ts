import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import type { Build } from '../metrics/own-metrics.ts';

/** What the program needs of the process it runs in. */
export interface ProcessContext {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  /** The same as `print`, for data that the reader may take slowly or not to its end. */
  readonly stdout: Writable;
  /** How wide the terminal is on which `printError` appears; undefined: on none. */
  readonly errorColumns: () => number | undefined;
  readonly signals: EventEmitter;
  readonly hostName: string;
  readonly build: Build;
}

/**
 * Aborts with the name of the first signal that asks the process to end; a second one is not listened to, so that it ends at once,
 * and neither is any after `over`.
 */
export function terminationSignal({ signals }: Pick<ProcessContext, 'signals'>, over?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const listeners = ['SIGTERM', 'SIGINT'].map((name) => ({ name, listener: () => end(name) }));
  const forget = () => {
    for (const { name, listener } of listeners) signals.off(name, listener);
  };
  const end = (reason: string) => {
    forget();
    controller.abort(reason);
  };
  for (const { name, listener } of listeners) signals.on(name, listener);
  over?.addEventListener('abort', forget, { once: true });
  return controller.signal;
}

export function printText({ print }: ProcessContext, text: string): number {
  print(text);
  return 0;
}

export function printProblems({ printError }: ProcessContext, lines: readonly string[]): number {
  for (const line of lines) printError(`${line}\n`);
  return 1;
}

/** The operator's mistake: told in plain words, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join('\n'), { cause });
    this.problems = problems;
  }
}

/** A signal ended the work before it was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

/** The exit code that the work comes to. */
export async function exitCodeOf(context: ProcessContext, work: Promise<void>): Promise<number> {
  try {
    await work;
    return 0;
  } catch (error) {
    if (error instanceof OperatorError) return printProblems(context, error.problems);
    // As shells count it.
    if (error instanceof Interrupted) return 128 + constants.signals[error.signal];
    // A port that is taken or not allowed is for the operator to know.
    if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
      return printProblems(context, [`cannot serve: ${error.message}`]);
    throw error;
  }
}
