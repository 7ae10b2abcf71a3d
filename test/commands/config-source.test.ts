import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfigFile } from '../../src/commands/config-source.ts';
import { configOf } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';

describe('loadConfigFile', () => {
  it('reports why a file cannot be read', async () => {
    const folder = dirname(temporaryFile('x', ''));
    const problem = { line: 1, column: 1, path: '' };
    expect(await loadConfigFile(folder, {})).toEqual({
      ok: false,
      problems: [{ file: folder, ...problem, message: expect.stringMatching(/^cannot be read: EISDIR/) }],
    });
    const missing = join(folder, 'missing.yaml');
    expect(await loadConfigFile(missing, {})).toEqual({
      ok: false,
      problems: [{ file: missing, ...problem, message: expect.stringMatching(/^cannot be read: ENOENT/) }],
    });
  });

  it('reads a pipe, as of a tool that decrypts the file', async () => {
    const file = join(dirname(temporaryFile('x', '')), 'pipe.yaml');
    execFileSync('mkfifo', [file]);
    const [loaded] = await Promise.all([
      loadConfigFile(file, {}),
      writeFile(file, stringify(configOf('http://127.0.0.1:1', ['a']))),
    ]);
    expect(loaded).toMatchObject({ ok: true });
  });

  it('rejects with an internal error', async () => {
    const file = temporaryFile('config.yaml', stringify(configOf('${' + 'SERVICE}', ['a'])));
    const env = Object.defineProperty({}, 'SERVICE', {
      get: () => {
        throw new Error('a bug');
      },
    });
    await expect(loadConfigFile(file, env)).rejects.toThrow('a bug');
  });
});
