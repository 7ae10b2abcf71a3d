import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface StartOptions {
  /** Working directory; a new one unless given. */
  readonly folder?: string;
  /** Options of Node. */
  readonly node?: readonly string[];
  /** A file descriptor instead of a pipe. */
  readonly stderr?: number;
  /** A module that is loaded before the program. */
  readonly preload?: string;
}

/** The built program in a process of its own and a folder outside the project, killed when the test finishes. */
export function startProgram(
  { folder = dirname(temporaryFile('x', '')), node = [], stderr, preload }: StartOptions,
  ...flags: string[]
) {
  if (!existsSync(main))
    throw new Error('dist/main.js is missing: these tests run the built program, so run `npm run build` first');
  const before = preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const child = spawn(process.execPath, [...node, ...before, main, ...flags], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', stderr ?? 'pipe'],
  });
  onTestFinished(() => end(child));
  return { child, ...outputOf(child) };
}

/** What a process has written, how it ended, and the address that it logs if it is the exporter. */
export function outputOf(child: ChildProcess) {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk) => {
      output[name] += chunk;
    });
  // Not `exit`, which may precede the end of the output.
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const listening = new Promise<string>((resolve) => {
    child.stderr?.on('data', () => {
      const [, port] = /msg=listening .*port=(\d+)/.exec(output.stderr) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
  const url = async () =>
    (await Promise.race([listening, closed.then(() => undefined)])) ??
    expect.unreachable(output.stdout + output.stderr);
  return { output, closed, url };
}

/** One scrape of all stations, parsed. */
export async function scrapeOf(url: string, timeoutSeconds = 10) {
  const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': `${timeoutSeconds}` };
  return parseExposition(await (await fetch(`${url}/metrics`, { headers })).text());
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
