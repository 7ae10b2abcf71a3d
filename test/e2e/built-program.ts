import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { parseExposition } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface StartOptions {
  /** Working directory; a new one unless given. */
  readonly folder?: string;
  /** Options of Node. */
  readonly node?: readonly string[];
  readonly env?: Record<string, string>;
  /** A file descriptor instead of a pipe. */
  readonly stderr?: number;
  /** A module that is loaded before the program. */
  readonly preload?: string;
}

/** The built program in a process of its own and a folder outside the project, killed when the test finishes. */
export function startProgram(
  { folder = dirname(temporaryFile('x', '')), node = [], env = {}, stderr, preload }: StartOptions,
  ...flags: string[]
) {
  if (!existsSync(main))
    throw new Error('dist/main.js is missing: these tests run the built program, so run `npm run build` first');
  const before = preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const child = spawn(process.execPath, [...node, ...before, main, ...flags], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', stderr ?? 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const collect = (stream: Readable | null, name: keyof typeof output) =>
    stream?.setEncoding('utf8').on('data', (chunk) => {
      output[name] += chunk;
    });
  collect(child.stdout, 'stdout');
  collect(child.stderr, 'stderr');
  // Not `exit`, which may precede the end of the output.
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  onTestFinished(() => end(child));
  const url = () =>
    eventually(() => {
      const [, port] = /msg=listening .*port=(\d+)/.exec(output.stderr) ?? [];
      expect(port, output.stderr).toBeDefined();
      return `http://127.0.0.1:${port}`;
    });
  return { child, output, closed, url };
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
