import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writePieces } from '../../src/cli/data-output.ts';
import { OperatorError } from '../../src/commands/process-context.ts';
import { withNewFile } from '../../src/commands/record.ts';
import { temporaryFile } from '../upstream/support/files.ts';

function newName(): string {
  const folder = mkdtempSync(join(tmpdir(), 'new-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'new.json');
}

describe('withNewFile', () => {
  it('creates a file', async () => {
    const file = newName();
    await withNewFile(file, (out) => writePieces(out, ['a', 'b']));
    expect(readFileSync(file, 'utf8')).toBe('ab');
  });

  it('does not overwrite a file', async () => {
    const file = temporaryFile('old.json', 'old');
    await expect(withNewFile(file, () => expect.unreachable())).rejects.toThrow(
      `${file}: already exists and is not overwritten`,
    );
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it('reports a file that cannot be created', async () => {
    const file = join(newName(), 'below', 'nothing.json');
    const failed = withNewFile(file, () => expect.unreachable());
    await expect(failed).rejects.toThrow(/: cannot be written: ENOENT/);
    await expect(failed).rejects.toBeInstanceOf(OperatorError);
  });

  it('removes the file when the work fails', async () => {
    const file = newName();
    const failure = new Error('the service is away');
    await expect(withNewFile(file, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(existsSync(file)).toBe(false);
  });

  it('reports a full disk and removes the partial file', async () => {
    const file = newName();
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' });
    const failed = withNewFile(file, async (out) => {
      out.destroy(full);
      await writePieces(out, ['a']);
    });
    await expect(failed).rejects.toThrow(`${file}: cannot be written: ENOSPC: no space left on device, write`);
    expect(existsSync(file)).toBe(false);
  });
});
