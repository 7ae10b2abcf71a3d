import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { CLEAR_LINE } from '../../src/cli/log-output.ts';
import { eventually } from '../web/eventually.ts';

/** The built program as a word of a shell command. */
export const program = `'${process.execPath}' '${fileURLToPath(new URL('../../dist/main.js', import.meta.url))}'`;

/** A shell command in a pseudo terminal of util-linux, of 80 columns; it ends with the test. */
export class PseudoTerminal {
  readonly #child: ChildProcessWithoutNullStreams;
  /** The exit code of the command. */
  readonly exit: Promise<number | null>;
  #text = '';

  constructor(command: string) {
    const { NO_COLOR: _none, ...inherited } = process.env;
    this.#child = spawn('script', ['-qec', `stty cols 80 && exec ${command}`, '/dev/null'], {
      env: { ...inherited, TERM: 'xterm' },
    });
    this.exit = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdout.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString();
    });
    // Passed on to the command, which would outlive `script` after SIGKILL.
    onTestFinished(() => void this.#child.kill('SIGTERM'));
  }

  /** Everything the terminal has received, with its line ends as in a file. */
  get text(): string {
    return this.#text.replaceAll('\r\n', '\n');
  }

  /** The lines that a person sees. */
  get lines(): readonly string[] {
    return this.text.split('\n').map((line) => String(line.split(CLEAR_LINE).at(-1)));
  }

  /** As a keyboard does: Ctrl-C is \u0003. */
  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Resolves once the text matches. */
  received(pattern: RegExp): Promise<void> {
    return eventually(() => expect(this.#text).toMatch(pattern));
  }
}
