import { describe, expect, it } from 'vitest';
import { startProgram } from '../e2e/built-program.ts';

describe('main', () => {
  it.each([
    ['an unhandled rejection', 'Promise.reject(new TypeError("provoked"))', 'unhandledRejection'],
    ['an uncaught exception', 'setTimeout(() => { throw new TypeError("provoked") })', 'uncaughtException'],
  ])('logs %s in one line, and exits with 1', async (_what, failure, origin) => {
    const { child, closed, output, url } = startProgram(
      { preload: `process.once('SIGUSR2', () => { ${failure} });` },
      ...['--demo', '--web.listen-address=127.0.0.1:0'],
    );
    await url();
    const before = output.stderr.length;
    child.kill('SIGUSR2');
    expect(await closed).toEqual({ code: 1, signal: null });
    const errors = output.stderr.slice(before).match(/.* level=error .*\n/g);
    expect(errors).toEqual([
      expect.stringMatching(
        new RegExp(
          `msg="unhandled exception, exiting" origin=${origin} error=provoked stack="TypeError: provoked\\\\n +at `,
        ),
      ),
    ]);
  });

  it('logs an exception during startup, and exits with 1', async () => {
    const preload = 'process.stdout.write = () => { throw new Error("no output") };';
    const { closed, output } = startProgram({ preload }, '--version');
    expect(await closed).toEqual({ code: 1, signal: null });
    expect(output.stderr).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" .*error="no output" stack=.*\n$/,
    );
  });
});
