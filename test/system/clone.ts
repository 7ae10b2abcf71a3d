import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { root } from '../docs/markdown.ts';
import { outputOf } from '../e2e/built-program.ts';

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
  const observed = outputOf(child);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) signalAll(child, 'SIGKILL');
    await observed.closed;
  });
  /** Like Ctrl-C: signals the whole process group. */
  return { ...observed, interrupt: () => signalAll(child, 'SIGINT') };
}

function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}
