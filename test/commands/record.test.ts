import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/cli/operator-error.ts';
import { writeNewFile } from '../../src/commands/record.ts';
import { temporaryFile } from '../service/support/files.ts';

describe('writeNewFile', () => {
  it('does not overwrite a file that appeared meanwhile', async () => {
    const file = temporaryFile('old.json', 'old');
    const failed = writeNewFile(file, ['new']);
    await expect(failed).rejects.toThrow(/: cannot be written: EEXIST/);
    await expect(failed).rejects.toBeInstanceOf(OperatorError);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it('removes the partial file when writing fails', async () => {
    const file = join(dirname(temporaryFile('x', '')), 'new.json');
    function* full() {
      yield 'a';
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    await expect(writeNewFile(file, full())).rejects.toThrow(`${file}: cannot be written: ENOSPC: no space left`);
    expect(existsSync(file)).toBe(false);
  });
});
