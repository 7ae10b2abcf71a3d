import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfigFile } from '../../src/commands/config-source.ts';
import { configOf } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';

describe('loadConfigFile', () => {
  it('loads the file, expands the environment and resolves paths against its folder', async () => {
    const upstream = { authorization: { credentials_file: 'token' } };
    const file = temporaryFile('config.yaml', stringify(configOf('${' + 'SERVICE}', ['a'], { upstream })));
    const result = await loadConfigFile(file, { SERVICE: 'https://monitor.example.com' });
    expect(result).toMatchObject({
      ok: true,
      config: {
        upstreams: {
          main: {
            base_url: new URL('https://monitor.example.com'),
            authorization: { credentials_file: join(dirname(file), 'token') },
          },
        },
      },
    });
  });

  it('reports the file in every problem', async () => {
    const file = temporaryFile('config.yaml', 'upstreams: {}\nsurprise: 1\n');
    const result = await loadConfigFile(file, {});
    expect(result.ok ? [] : result.problems.map((problem) => problem.file)).toEqual([file, file, file]);
  });

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
