import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfigFile } from '../../src/commands/config-source.ts';
import { configOf } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';

describe('loadConfigFile', () => {
  it.each([
    ['test', /^cannot be read: EISDIR[^;]*$/],
    [
      'missing.yaml',
      /^cannot be read: ENOENT.*; config\.example\.yaml is a template, and --demo needs no configuration$/,
    ],
  ])('reports why %s cannot be read', async (file, message) => {
    expect(await loadConfigFile(file, {})).toMatchObject({
      ok: false,
      problems: [{ file, line: 1, message: expect.stringMatching(message) }],
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
