import { describe, expect, it } from 'vitest';
import { startProgram } from '../e2e/built-program.ts';

describe('main', () => {
  it('exits with 1 and the stack of an uncaught exception', async () => {
    const { child, closed, output, url } = startProgram(
      { preload: 'process.once("SIGUSR2", () => setTimeout(() => { throw new TypeError("provoked") }));' },
      ...['--demo', '--web.listen-address=127.0.0.1:0'],
    );
    await url();
    child.kill('SIGUSR2');
    expect(await closed).toEqual({ code: 1, signal: null });
    expect(output.stderr).toMatch(/^TypeError: provoked\n +at /m);
  });
});
