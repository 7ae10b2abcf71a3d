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
    expect(await loadConfigFile('test', {})).toMatchObject({
      ok: false,
      problems: [{ file: 'test', line: 1, message: expect.stringMatching('^cannot be read: EISDIR[^;]*$') }],
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
});
