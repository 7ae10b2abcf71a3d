import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writePieces } from '../../src/cli/data-output.ts';

/** A stream that completes each write when `take` is called. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const out = new Writable({
    decodeStrings: false,
    highWaterMark: 1,
    write(chunk: string, _encoding, done) {
      taken.push(chunk);
      waiting.push(done);
    },
  });
  return { out, taken, take: () => waiting.shift()?.() };
}

function failing(error: Error): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done(error) });
}

function* numbered(count: number, generated: { pieces: number }): Iterable<string> {
  for (let at = 0; at < count; at += 1) {
    generated.pieces += 1;
    yield `${'x'.repeat(1023)}\n`;
  }
}

describe('writePieces', () => {
  it('writes everything in order and leaves the stream open', async () => {
    const out = new PassThrough();
    await writePieces(out, ['a', 'b', '', 'c']);
    expect(out.writableEnded).toBe(false);
    expect(String(out.read())).toBe('abc');
  });

  it('joins small pieces into large writes', async () => {
    const { out, taken, take } = slowReader();
    const written = writePieces(out, numbered(1000, { pieces: 0 }));
    await expect
      .poll(
        () => {
          take();
          return taken.join('').length;
        },
        { interval: 1 },
      )
      .toBe(1_024_000);
    take();
    await written;
    expect(taken.length).toBeLessThan(20);
  });

  it('generates pieces only as fast as they are read', async () => {
    const { out, taken, take } = slowReader();
    const generated = { pieces: 0 };
    const written = writePieces(out, numbered(100_000, generated));
    await expect.poll(() => taken.length).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(generated.pieces).toBeLessThan(5000);
    out.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    take();
    await written;
    expect(generated.pieces).toBeLessThan(5000);
  });

  it('ends without an error when the pipe is closed', async () => {
    await writePieces(failing(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })), ['a']);
  });

  it('fails when the data cannot be written', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    await expect(writePieces(failing(full), ['a'])).rejects.toBe(full);
  });
});
