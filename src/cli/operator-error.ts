/** A problem that the operator can fix: printed without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly problems: readonly string[];
  readonly exitCode: number;

  constructor(problems: readonly string[], cause?: unknown, exitCode = 1) {
    super(problems.join('\n'), { cause });
    this.problems = problems;
    this.exitCode = exitCode;
  }
}
