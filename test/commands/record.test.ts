import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/commands/process-context.ts';
import { writeNewFile } from '../../src/commands/record.ts';
import { configFlag, resultOf } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';

describe('record', () => {
  it('counts one resource and one page in the singular', async () => {
    const service = await startTestService({ source: () => entriesOf(1) });
    const { stderr } = await resultOf(['record', 'ts', configFlag(configOf(service.url, ['ts']))]);
    expect(stderr).toMatch(/^recorded 1 resource of "ts", 1 page, to standard output\n/);
  });
});

const newName = () => join(dirname(temporaryFile('x', '')), 'new.json');

describe('writeNewFile', () => {
  it('does not overwrite a file that appeared meanwhile', async () => {
    const file = temporaryFile('old.json', 'old');
    await expect(writeNewFile(file, ['new'])).rejects.toThrow(/: cannot be written: EEXIST/);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it('reports a file that cannot be created', async () => {
    const failed = writeNewFile(join(newName(), 'below', 'nothing.json'), []);
    await expect(failed).rejects.toThrow(/: cannot be written: ENOENT/);
    await expect(failed).rejects.toBeInstanceOf(OperatorError);
  });

  it('removes the partial file when writing fails', async () => {
    const file = newName();
    function* full() {
      yield 'a';
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    await expect(writeNewFile(file, full())).rejects.toThrow(`${file}: cannot be written: ENOSPC: no space left`);
    expect(existsSync(file)).toBe(false);
  });
});
