import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { root } from '../docs/markdown.ts';

/** Not part of a clone. */
const NOT_CLONED = ['.git', '.tmp', 'coverage', 'dist', 'node_modules'];

/** A copy of the project right after `npm ci`. */
export function createClone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  cpSync(root, folder, { recursive: true, filter: (from) => !NOT_CLONED.includes(relative(root, from)) });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

export function removeClone(folder: string): void {
  rmSync(folder, { recursive: true });
}

/** Runs a line of shell in a folder; it is killed when the test ends. */
export function runShell(command: string, folder: string) {
  // Without the variables of the test runner, which a nested runner would inherit.
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
    /** The address that the exporter logs. */
    url: async () =>
      (await Promise.race([listening, closed.then(() => undefined)])) ??
      expect.unreachable(output.stdout + output.stderr),
    /** Like Ctrl-C: signals the whole process group. */
    interrupt: () => signalAll(child, 'SIGINT'),
  };
}

function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}
