import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { ServiceOptions } from '../../src/simulator/service.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

beforeAll(() => {
  if (!existsSync(main))
    throw new Error('dist/main.js is missing: these tests run the built program, so run `npm run build` first');
});

async function startList(
  resources: number,
  flags: readonly string[],
  { node = [] as string[], options = {} as ServiceOptions } = {},
) {
  const service = await startTestService({ source: () => entriesOf(resources), ...options });
  const file = temporaryFile(
    'config.yaml',
    stringify(configOf(service.url, ['ts'], { upstream: { page_size: 1000 } })),
  );
  const child = spawn(process.execPath, [...node, main, 'list', 'ts', `--config.file=${file}`, ...flags]);
  onTestFinished(() => end(child));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  return { child, closed, service };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text;
}

describe('telemetry-station-exporter list', () => {
  it('prints only data into a pipe', async () => {
    const { child, closed } = await startList(4000, ['--format=json']);
    const text = await textOf(child);
    expect(await closed).toEqual({ code: 0, signal: null, stderr: '' });
    expect(JSON.parse(text)).toHaveLength(4000);
  });

  it('exits with 0 when the reader closes the pipe', async () => {
    const { child, closed } = await startList(4000, ['--format=csv']);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await closed).toEqual({ code: 0, signal: null, stderr: '' });
  });
});
