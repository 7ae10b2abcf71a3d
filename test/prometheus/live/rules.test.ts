import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const FOLDER = new URL('../../../prometheus/', import.meta.url);

const unitTests = readdirSync(new URL('tests/', FOLDER)).map((file) => `test rules tests/${file}`);

describe('promtool', () => {
  it.each([
    'check rules rules.yml',
    'check config prometheus.yml',
    'check config prometheus-http-sd.yml',
    ...unitTests,
  ])('succeeds in prometheus/: %s', async (command) => {
    const { stdout } = await run('promtool', command.split(' '), { cwd: FOLDER });
    expect(stdout).toContain('SUCCESS');
  });
});
