import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeToStream } from '../../src/cli/data-output.ts';

function* numbered(count: number, generated: { pieces: number }): Iterable<string> {
  for (let at = 0; at < count; at += 1) {
    generated.pieces += 1;
    yield `${'x'.repeat(1023)}\n`;
  }
}

describe('writeToStream', () => {
  it('generates pieces only as fast as they are read, and ends without an error when the pipe is closed', async () => {
    const waiting: (() => void)[] = [];
    const out = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => waiting.push(done) });
    const generated = { pieces: 0 };
    const written = writeToStream(out, numbered(100_000, generated));
    await expect.poll(() => waiting.length).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(generated.pieces).toBeLessThan(5000);
    out.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    waiting[0]?.();
    await written;
    expect(generated.pieces).toBeLessThan(5000);
  });

  it('fails when the data cannot be written', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const out = new Writable({ write: (_chunk, _encoding, done) => done(full) });
    await expect(writeToStream(out, ['a'])).rejects.toBe(full);
  });
});
