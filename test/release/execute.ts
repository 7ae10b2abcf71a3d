import { spawn } from 'node:child_process';

interface Execution {
  readonly code: number | null;
  /** Standard output and standard error, as a terminal shows them. */
  readonly output: string;
  readonly stdout: string;
}

interface ExecuteOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end, without blocking the servers of this process. */
export function execute(
  command: string,
  args: readonly string[],
  { cwd, env }: ExecuteOptions = {},
): Promise<Execution> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, stdout }));
  });
}

/** The output of a command that must succeed. */
export async function outputOf(command: string, args: readonly string[], options: ExecuteOptions = {}) {
  const { code, output, stdout } = await execute(command, args, options);
  if (code !== 0) throw new Error(`failed with ${code}: ${command} ${args.join(' ')}\n${output}`);
  return stdout.trim();
}

export function assertEqual<Value>(what: string, found: Value, expected: Value): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}`);
  }
}
