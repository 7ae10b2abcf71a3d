import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRegularFile } from '../../src/files/regular-file.ts';
import { temporaryFile } from '../upstream/support/files.ts';

describe('readRegularFile', () => {
  it('returns the content of a file', async () => {
    expect(await readRegularFile(temporaryFile('a', 'text'))).toEqual(Buffer.from('text'));
  });

  it('rejects a pipe without waiting for its writer, a device and a folder', async () => {
    const folder = dirname(temporaryFile('a', ''));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(readRegularFile(join(folder, 'pipe'))).rejects.toThrow('not a regular file');
    await expect(readRegularFile('/dev/null')).rejects.toThrow('not a regular file');
    await expect(readRegularFile(folder)).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(readRegularFile(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
