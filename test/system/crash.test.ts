import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

describe('main', () => {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

  /** The built program in a process of its own, with a module loaded before it. */
  function start(before: string, ...flags: string[]) {
    const module = `data:text/javascript,${encodeURIComponent(before)}`;
    const child = spawn(process.execPath, ['--import', module, main, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const waitForOutput = async (text: string) => {
      while (!stderr.includes(text)) await once(child.stderr, 'data');
    };
    return { child, waitForOutput, ended: once(child, 'close'), output: () => stderr };
  }

  it.each([
    ['an unhandled rejection', 'Promise.reject(new TypeError("provoked"))', 'unhandledRejection'],
    ['an uncaught exception', 'setTimeout(() => { throw new TypeError("provoked") })', 'uncaughtException'],
  ])('logs %s in one line, and exits with 1', async (_what, failure, origin) => {
    const program = start(
      `process.once('SIGUSR2', () => { ${failure} });`,
      ...['--demo', '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    );
    await program.waitForOutput('"msg":"listening"');
    const before = program.output().length;
    program.child.kill('SIGUSR2');
    expect(await program.ended).toEqual([1, null]);
    const lines = program
      .output()
      .slice(before)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      {
        ts: expect.any(String),
        level: 'error',
        msg: 'unhandled exception, exiting',
        origin,
        error: 'provoked',
        stack: expect.stringContaining('TypeError: provoked\n    at '),
      },
    ]);
  });

  it('logs an exception during startup, and exits with 1', async () => {
    const program = start('process.stdout.write = () => { throw new Error("no output") };', '--version');
    expect(await program.ended).toEqual([1, null]);
    expect(program.output()).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" .*error="no output" stack=.*\n$/,
    );
  });
});
