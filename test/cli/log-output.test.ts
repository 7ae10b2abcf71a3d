import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LogOutput } from '../../src/cli/log-output.ts';

/** A stream whose reader reads when the test says so. */
function setUp(maxBufferedBytes = 1000) {
  const written: string[] = [];
  const pending: (() => void)[] = [];
  let isReading = true;
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      const end = () => {
        written.push(String(chunk));
        done();
      };
      if (isReading) end();
      else pending.push(end);
    },
  });
  const output = new LogOutput(stream, maxBufferedBytes);
  const resumed: number[] = [];
  output.onResumed((lines) => {
    resumed.push(lines);
    output.write(`dropped ${lines}\n`);
  });
  const pause = () => {
    isReading = false;
  };
  const read = () => {
    isReading = true;
    for (const end of pending.splice(0)) end();
  };
  return { output, resumed, written, pause, read };
}

describe('LogOutput', () => {
  it('writes lines at once, and then has nothing to wait for', async () => {
    const { output, resumed, written } = setUp();
    output.write('a\n');
    output.write('ü\n');
    await output.drained();
    expect([written.join(''), resumed]).toEqual(['a\nü\n', []]);
  });

  it('holds no more than the limit for a reader that does not read, and reports the gap in one line when it does', async () => {
    const { output, resumed, written, pause, read } = setUp(30);
    pause();
    for (let line = 1000; line < 2000; line += 1) output.write(`line ${line}\n`);
    read();
    await output.drained();
    expect(resumed).toEqual([997]);
    expect(written.join('')).toBe('line 1000\nline 1001\nline 1002\ndropped 997\n');
  });

  it('counts lines that fail, and writes again when that ends', async () => {
    const written: string[] = [];
    let failure: Error | undefined = new Error('ENOSPC');
    // As Node's stderr, which stays open after an error and calls back each write with its own.
    const stream = Object.assign(new Writable(), {
      write: (line: string, done: (error?: Error | null) => void) => {
        if (failure === undefined) written.push(line);
        done(failure);
        return true;
      },
    });
    const output = new LogOutput(stream);
    const resumed: number[] = [];
    output.onResumed((lines) => resumed.push(lines));
    output.write('a\n');
    output.write('b\n');
    failure = undefined;
    output.write('c\n');
    expect([written, resumed]).toEqual([['c\n'], [2]]);
  });

  it('does not wait longer than told for a reader that does not read', async () => {
    const { output, written, pause, read } = setUp();
    pause();
    output.write('a\n');
    await output.drained(1);
    expect(written).toEqual([]);
    read();
    await output.drained();
    expect(written.join('')).toBe('a\n');
  });
});
