import { describe, expect, it } from 'vitest';
import { startProgram } from '../e2e/built-program.ts';

describe('main', () => {
  it('logs an uncaught exception in one line, and exits with 1', async () => {
    const { child, closed, output, url } = startProgram(
      { preload: 'process.once("SIGUSR2", () => setTimeout(() => { throw new TypeError("provoked") }));' },
      ...['--demo', '--web.listen-address=127.0.0.1:0'],
    );
    await url();
    const before = output.stderr.length;
    child.kill('SIGUSR2');
    expect(await closed).toEqual({ code: 1, signal: null });
    expect(output.stderr.slice(before).match(/.* level=error .*\n/g)).toEqual([
      expect.stringMatching(
        /msg="unhandled exception, exiting" origin=uncaughtException error=provoked stack="TypeError: provoked\\n +at /,
      ),
    ]);
  });

  // It rejects the promise that main.ts awaits.
  it('logs an exception during startup, and exits with 1', async () => {
    const preload = 'process.stdout.write = () => { throw new Error("no output") };';
    const { closed, output } = startProgram({ preload }, '--version');
    expect(await closed).toEqual({ code: 1, signal: null });
    expect(output.stderr).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" .*error="no output" stack=.*\n$/,
    );
  });
});
