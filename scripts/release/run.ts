import { spawnSync } from 'node:child_process';

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end and returns its output. An error has everything that the command printed. */
export function run(command: string, args: readonly string[], { cwd, env }: RunOptions = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new CommandError(`${command} ${args.join(' ')}`, `${stdout}${stderr}`.trim());
  return stdout;
}

/** A command that ran and failed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly output: string;

  constructor(command: string, output: string) {
    super(`failed: ${command}\n${output}`);
    this.output = output;
  }
}

/** Prints the heading of a step, or a line below it. */
export function report(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs a program: an error is printed without its stack, and makes the exit code 1. */
export function main(program: () => void): void {
  try {
    program();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
