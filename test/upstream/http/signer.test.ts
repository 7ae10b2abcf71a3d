import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import { Credential } from '../../../src/upstream/http/authenticator.ts';
import { encodeHeader, mergeHeaders } from '../../../src/upstream/http/signer.ts';
import { ManualClock } from '../support/clock.ts';
import { temporaryFile } from '../support/files.ts';

describe('encodeHeader', () => {
  it('keeps printable text unchanged', () => {
    expect(encodeHeader('X-Key', 'a b\t~"')).toEqual(['X-Key', 'a b\t~"']);
  });

  it('encodes other scripts as UTF-8', () => {
    const [, value] = encodeHeader('X-Tenant', '存储');
    expect(Buffer.from(value, 'latin1').toString()).toBe('存储');
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\u007fb'])('rejects %j without repeating it', (value) => {
    const attempt = () => encodeHeader('X-Key', value);
    expect(attempt).toThrow(ListingFailure);
    expect(attempt).toThrow(/^invalid value of header X-Key: expected no line breaks or other control characters$/);
  });
});

describe('mergeHeaders', () => {
  it('overrides names regardless of case and keeps repeated headers of one list', () => {
    const lower = [
      ['Accept', 'a'],
      ['User-Agent', 'u'],
    ] as const;
    const upper = [
      ['user-agent', 'v'],
      ['X', '1'],
      ['X', '2'],
    ] as const;
    expect(mergeHeaders(lower, upper)).toEqual([['Accept', 'a'], ...upper]);
  });
});

describe('Credential', () => {
  it('returns the configured text', async () => {
    const credential = new Credential({ text: 'given' }, { elapsedMs: () => 0 });
    await expect(credential.read()).resolves.toBe('given');
  });

  it('returns the content of a file without surrounding white space', async () => {
    const credential = new Credential({ file: temporaryFile('token', ' a\nb \r\n') }, { elapsedMs: () => 0 });
    await expect(credential.read()).resolves.toBe('a\nb');
  });

  it('reads the file again after a second, not before', async () => {
    const clock = new ManualClock(5000);
    const file = temporaryFile('token', 'old');
    const credential = new Credential({ file }, { elapsedMs: clock.now });
    await credential.read();
    writeFileSync(file, 'new');
    clock.nowMs += 999;
    await expect(credential.read()).resolves.toBe('old');
    clock.nowMs += 1;
    await expect(credential.read()).resolves.toBe('new');
  });

  it('reads the file again after invalidate', async () => {
    const file = temporaryFile('token', 'old');
    const credential = new Credential({ file }, { elapsedMs: () => 0 });
    await credential.read();
    writeFileSync(file, 'new');
    credential.invalidate();
    await expect(credential.read()).resolves.toBe('new');
  });

  it('fails with reason auth and names a file that cannot be read', async () => {
    const file = temporaryFile('token', 'x');
    rmSync(file);
    const message = expect.stringMatching(new RegExp(`cannot read credential file ${file}: ENOENT`));
    await expect(new Credential({ file }, { elapsedMs: () => 0 }).read()).rejects.toMatchObject({
      reason: 'auth',
      message,
    });
  });

  it('fails with reason auth and names an empty file', async () => {
    const file = temporaryFile('token', '\n');
    await expect(new Credential({ file }, { elapsedMs: () => 0 }).read()).rejects.toMatchObject({
      reason: 'auth',
      message: `credential file ${file} is empty`,
    });
  });
});
