import { describe, expect, it } from 'vitest';
import { LogOutput } from '../../src/cli/log-output.ts';
import { eventually } from '../web/eventually.ts';

/** A file that accepts as many bytes as the test says, or rejects them with its error. */
class Sink {
  text = '';
  space = Number.POSITIVE_INFINITY;
  failure: string | undefined;
  /** Without space. */
  full = (): number => {
    throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' });
  };

  write(bytes: Uint8Array): number {
    if (this.failure !== undefined) throw Object.assign(new Error(this.failure), { code: this.failure });
    const taken = Math.min(this.space, bytes.length);
    if (taken === 0) return this.full();
    this.space -= taken;
    this.text += Buffer.from(bytes.subarray(0, taken));
    return taken;
  }
}

function setUp(maxBytes = 1000) {
  const sink = new Sink();
  const output = new LogOutput({ write: (bytes) => sink.write(bytes), retryMs: 1 });
  const resumed: number[] = [];
  output.configure(maxBytes, (lines) => resumed.push(lines));
  return { sink, output, resumed };
}

describe('LogOutput', () => {
  it('writes lines at once, and then has nothing to wait for', async () => {
    const { sink, output, resumed } = setUp();
    output.write('a\n');
    output.write('ü\n');
    output.write('');
    expect(sink.text).toBe('a\nü\n');
    expect([output.droppedLines, resumed]).toEqual([0, []]);
    await output.drained();
  });

  it.each(['EPIPE', 'ENOSPC', 'EIO'])(
    'drops and counts lines that fail with %s, and writes again when that ends',
    (failure) => {
      const { sink, output, resumed } = setUp();
      sink.failure = failure;
      output.write('a\n');
      output.write('b\n');
      expect([output.droppedLines, resumed]).toEqual([2, []]);
      sink.failure = undefined;
      output.write('c\n');
      expect(sink.text).toBe('c\n');
      expect([output.droppedLines, resumed]).toEqual([2, [2]]);
    },
  );

  it('keeps lines in order for a reader that stops for a while', async () => {
    const { sink, output, resumed } = setUp();
    sink.space = 3;
    for (const line of ['ab\n', 'cd\n', 'ef\n']) output.write(line);
    expect(sink.text).toBe('ab\n');
    sink.space = 4;
    await eventually(() => expect(sink.text).toBe('ab\ncd\ne'));
    sink.space = 100;
    await output.drained();
    expect(sink.text).toBe('ab\ncd\nef\n');
    expect([output.droppedLines, resumed]).toEqual([0, []]);
  });

  it('holds no more than the limit for a reader that does not read, and reports the gap when it does', async () => {
    const { sink, output, resumed } = setUp(30);
    sink.space = 0;
    for (let line = 1000; line < 2000; line += 1) output.write(`line ${line}\n`);
    expect(output.droppedLines).toBe(997);
    sink.space = Number.POSITIVE_INFINITY;
    await output.drained();
    expect(sink.text).toBe('line 1000\nline 1001\nline 1002\n');
    expect(resumed).toEqual([997]);
  });

  it('begins a new line after one that was cut off by a failure', () => {
    const { sink, output } = setUp();
    sink.space = 2;
    output.write('abc\n');
    sink.failure = 'ENOSPC';
    output.write('def\n');
    sink.failure = undefined;
    sink.space = 100;
    output.write('ghi\n');
    expect(sink.text).toBe('ab\nghi\n');
    expect(output.droppedLines).toBe(2);
  });

  it('does not wait longer than told for a reader that does not read', async () => {
    const { sink, output } = setUp();
    sink.space = 0;
    sink.full = () => 0;
    output.write('a\n');
    await output.drained(1);
    expect(sink.text).toBe('');
    sink.space = 100;
    await output.drained();
    expect(sink.text).toBe('a\n');
  });
});
