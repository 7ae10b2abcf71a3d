import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const FOLDER = new URL('../../../prometheus/', import.meta.url);

const promtool = (...args: string[]) => run('promtool', args, { cwd: FOLDER });

describe('promtool', () => {
  it('accepts prometheus/rules.yml', async () => {
    await expect(promtool('check', 'rules', 'rules.yml')).resolves.toMatchObject({
      stdout: expect.stringContaining('SUCCESS'),
    });
  });

  it.each(['prometheus.yml', 'prometheus-http-sd.yml'])('accepts prometheus/%s', async (file) => {
    await expect(promtool('check', 'config', file)).resolves.toMatchObject({
      stdout: expect.stringContaining('SUCCESS'),
    });
  });

  it.each(readdirSync(new URL('tests/', FOLDER)))('passes the unit tests in prometheus/tests/%s', async (file) => {
    await expect(promtool('test', 'rules', `tests/${file}`)).resolves.toMatchObject({
      stdout: expect.stringContaining('SUCCESS'),
    });
  });
});
