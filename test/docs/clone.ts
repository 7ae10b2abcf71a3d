import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { root } from './markdown.ts';

/** What a clone does not bring. */
const NOT_CLONED = ['.git', '.tmp', 'coverage', 'dist', 'node_modules'];

/** The project as one gets it, after `npm ci` and before anything else. */
export function freshClone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  cpSync(root, folder, { recursive: true, filter: (from) => !NOT_CLONED.includes(relative(root, from)) });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

export function removeClone(folder: string): void {
  rmSync(folder, { recursive: true });
}

/** A line of shell in a folder, as typed there; it ends with the test at the latest. */
export function typed(command: string, folder: string) {
  // The variables of the test runner would make another think that it is within it.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const child = spawn(command, { cwd: folder, shell: true, detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk) => {
      output[stream] += chunk;
    });
  }
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const listening = new Promise<string>((resolve) => {
    child.stderr.on('data', () => {
      const [, port] = /msg=listening .*port=(\d+)/.exec(output.stderr) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) signalAll(child, 'SIGKILL');
    await closed;
  });
  return {
    output,
    closed,
    /** The address that the exporter says it listens on. */
    url: async () => (await Promise.race([listening, closed.then(() => undefined)])) ?? expect.unreachable(output.stdout + output.stderr),
    /** As Ctrl-C does it: all that the line has started gets the signal. */
    interrupt: () => signalAll(child, 'SIGINT'),
  };
}

function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}
