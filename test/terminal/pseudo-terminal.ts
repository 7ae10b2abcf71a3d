import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { eventually } from '../web/eventually.ts';

/** The built program as a word of a shell command. */
export const program = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/main.js', import.meta.url))}'`;

interface TerminalOptions {
  readonly columns?: number;
  readonly cwd?: string;
}

/** A shell command in a pseudo terminal of util-linux; it ends with the test. */
export class PseudoTerminal {
  readonly #child: ChildProcessWithoutNullStreams;
  /** The exit code of the command. */
  readonly exit: Promise<number | null>;
  #text = '';

  constructor(command: string, { columns = 80, cwd }: TerminalOptions = {}) {
    const { NO_COLOR: _none, ...inherited } = process.env;
    this.#child = spawn('script', ['-qec', `stty cols ${columns} && exec ${command}`, '/dev/null'], {
      env: { ...inherited, TERM: 'xterm' },
      ...(cwd !== undefined && { cwd }),
    });
    this.exit = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdout.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString();
    });
    // Passed on to the command, which would outlive `script` after SIGKILL.
    onTestFinished(() => void this.#child.kill('SIGTERM'));
  }

  /** Everything the terminal has received. */
  get text(): string {
    return this.#text;
  }

  /** As a keyboard does: Ctrl-C is \u0003. */
  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Resolves with the text after `from` once it matches. */
  received(pattern: RegExp, from = 0): Promise<string> {
    return eventually(() => {
      expect(this.#text.slice(from)).toMatch(pattern);
      return this.#text.slice(from);
    });
  }
}

/** What a terminal shows of a shell command that ends, and its exit code. */
export async function shown(
  command: string,
  options?: TerminalOptions,
): Promise<{ readonly text: string; readonly code: number | null }> {
  const terminal = new PseudoTerminal(command, options);
  const code = await terminal.exit;
  return { text: terminal.text.replaceAll('\r\n', '\n'), code };
}
