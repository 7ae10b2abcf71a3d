import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Body } from '../../src/exposition/exposition.ts';
import {
  Compressor,
  combineCrc,
  crcShift,
  joinedSegment,
  listedSegment,
  type Segment,
  storedSegment,
} from '../../src/exposition/segment.ts';
import { codePoint } from '../code-point.ts';
import { heldByBuffers } from '../held-by-buffers.ts';

const texts = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 2000 }).map((text) => text.toWellFormed()),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 30 }), fc.nat({ max: 6000 }))
    .map(([text, times]) => text.repeat(times)),
);

describe('combineCrc', () => {
  it('supports lengths above 4 GiB', () => {
    const half = crcShift(2 ** 33);
    expect(combineCrc(0x12345678, 0, crcShift(2 ** 34))).toBe(combineCrc(combineCrc(0x12345678, 0, half), 0, half));
  });
});

async function compressed(compressor: Compressor, text: string): Promise<Segment> {
  const segments = await compressor.compress([['family', text]]);
  return segments.get('family') ?? storedSegment(Buffer.alloc(0));
}

const gzipOf = (segment: Segment) => Buffer.concat([...new Body([segment]).gzip()]);

describe('Body', () => {
  it('is one gzip member with the texts of its segments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(texts, fc.boolean())), async (parts) => {
        const text = Buffer.from(parts.map(([part]) => part).join(''));
        const compressor = new Compressor();
        const segments: Segment[] = [];
        for (const [part, stored] of parts)
          segments.push(stored ? storedSegment(Buffer.from(part)) : await compressed(compressor, part));
        for (const body of [
          new Body(segments),
          new Body([joinedSegment(segments)]),
          new Body([listedSegment(segments)]),
        ]) {
          const gzip = Buffer.concat([...body.gzip()]);
          expect(gunzipSync(gzip).equals(text)).toBe(true);
          expect([body.gzipLength, body.plainLength]).toEqual([gzip.length, text.length]);
          const plain: Uint8Array[] = [];
          for await (const chunk of body.plain()) plain.push(chunk);
          expect(Buffer.concat(plain).equals(text)).toBe(true);
        }
      }),
    );
  });

  it('holds little for each reader that does not go on reading', async () => {
    const body = new Body([storedSegment(randomBytes(1024 * 1024))]);
    const before = heldByBuffers();
    const readers = Array.from({ length: 20 }, () => body.plain()[Symbol.asyncIterator]());
    for (const reader of readers) await reader.next();
    expect((heldByBuffers() - before) / readers.length).toBeLessThan(128 * 1024);
    for (const reader of readers) await reader.return?.();
  });
});

describe('Compressor', () => {
  it('compresses each text completely, also where its output begins in one chunk of zlib and ends in the next', async () => {
    const compressor = new Compressor();
    // Random digits compress to half: each text fills more than half a chunk.
    const digits = Array.from({ length: 5 }, () => randomBytes(40_000).toString('hex'));
    const segments: Segment[] = [];
    for (const text of digits) segments.push(await compressed(compressor, text));
    const body = gunzipSync(Buffer.concat([...new Body(segments).gzip()]));
    expect(body.toString() === digits.join('')).toBe(true);
  });

  it('joins the pieces of a family', async () => {
    const pieces = ['telemetry_station_up{station="prod"} 1\n', 'telemetry_station_up{station="test"} 0\n'];
    const segments = await new Compressor().compress([
      ...pieces.map((piece) => ['up', piece] as const),
      ['empty', ''],
      ['info', 'telemetry_station_info 1\n'],
    ]);
    const texts = Array.from(segments, ([family, segment]) => [family, gunzipSync(gzipOf(segment)).toString()]);
    expect(texts).toEqual([
      ['up', pieces.join('')],
      ['info', 'telemetry_station_info 1\n'],
    ]);
  });

  it('compresses a long text', async () => {
    const segment = await compressed(new Compressor(), 'telemetry_station_up{station="prod"} 1\n'.repeat(1000));
    expect(segment.deflated.length * 20).toBeLessThan(segment.length);
  });
});
