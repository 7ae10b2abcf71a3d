import { execFileSync } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_CONFIG_BYTES, readFileOrPipe, readRegularFile } from '../../src/files/regular-file.ts';
import { temporaryFile } from '../upstream/support/files.ts';

describe('readRegularFile', () => {
  it('rejects a pipe without waiting for its writer, a device and a folder', async () => {
    const folder = dirname(temporaryFile('a', ''));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(readRegularFile(join(folder, 'pipe'))).rejects.toThrow('not a regular file');
    await expect(readRegularFile('/dev/null')).rejects.toThrow('not a regular file');
    await expect(readRegularFile(folder)).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(readRegularFile(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('rejects a file of 1.9 GB without reading it into memory', async () => {
    const file = temporaryFile('secret', '');
    truncateSync(file, 1.9e9);
    const before = process.memoryUsage().arrayBuffers;
    await expect(readRegularFile(file)).rejects.toThrow('larger than 1048576 bytes');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16e6);
  });

  it('returns the content of a file of exactly the limit', async () => {
    expect(await readRegularFile(temporaryFile('a', '12345'), 5)).toEqual(Buffer.from('12345'));
    await expect(readRegularFile(temporaryFile('a', '123456'), 5)).rejects.toThrow('larger than 5 bytes');
  });
});

describe('readFileOrPipe', () => {
  it('rejects a file beyond the limit', async () => {
    const file = temporaryFile('config.yaml', '');
    truncateSync(file, MAX_CONFIG_BYTES + 1);
    await expect(readFileOrPipe(file, MAX_CONFIG_BYTES)).rejects.toThrow('larger than 67108864 bytes');
  });
});
