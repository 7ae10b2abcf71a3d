import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { ServiceOptions } from '../../src/simulator/service.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Makes stderr look like a terminal. */
const TERMINAL = `data:text/javascript,${encodeURIComponent('Object.assign(process.stderr, { isTTY: true, columns: 50 })')}`;

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
  it.each(['table', 'json', 'csv'])('prints only data into a pipe, as %s', async (format) => {
    const { child, closed } = await startList(4000, [`--format=${format}`]);
    const text = await textOf(child);
    expect(await closed).toEqual({ code: 0, signal: null, stderr: '' });
    expect(text.match(/name-r\d+/g)).toHaveLength(4000);
    if (format === 'json') expect(JSON.parse(text)).toHaveLength(4000);
  });

  it('exits with 0 when the reader closes the pipe', async () => {
    const { child, closed } = await startList(4000, ['--format=csv']);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await closed).toEqual({ code: 0, signal: null, stderr: '' });
  });

  it('shows its progress on a terminal, and clears it', async () => {
    const latency = { faults: { '*': [{ kind: 'latency', ms: 60 } as const] } };
    const { child, closed } = await startList(3000, ['--limit=1'], { node: ['--import', TERMINAL], options: latency });
    const text = await textOf(child);
    const { code, stderr } = await closed;
    expect(code).toBe(0);
    expect(text).not.toContain('\u001b');
    const painted = stderr.split('\r\u001b[K');
    expect(painted[1]).toBe('ts: 0 pages');
    expect(painted[2]).toMatch(/^ts: 1 of 3 pages \[#+\.+\]$/);
    expect(painted.at(-1)).toBe('1 of 3000 resources\n');
  });

  it('exits with 130 on SIGINT', async () => {
    const { child, closed, service } = await startList(1, [], { options: { faults: { '*': [{ kind: 'hang' }] } } });
    await eventually(() => expect(service.requests).toHaveLength(1));
    child.kill('SIGINT');
    expect(await closed).toEqual({ code: 130, signal: null, stderr: '' });
  });
});
