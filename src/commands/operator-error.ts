import { constants } from 'node:os';
import { complain, type Surface } from './surface.ts';

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
export async function settle(surface: Surface, work: Promise<void>): Promise<number> {
  try {
    await work;
    return 0;
  } catch (error) {
    if (error instanceof OperatorError) return complain(surface, error.problems);
    // As shells count it.
    if (error instanceof Interrupted) return 128 + constants.signals[error.signal];
    // A port that is taken or not allowed is for the operator to know.
    if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
      return complain(surface, [`cannot serve: ${error.message}`]);
    throw error;
  }
}
