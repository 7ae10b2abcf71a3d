import { execFileSync, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { outputOf, startProgram } from '../e2e/built-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';

/** A configuration file that the program can read only when the test writes it. */
async function writtenOnDemand() {
  const service = await startTestService({ source: () => entriesOf(3) });
  const folder = dirname(temporaryFile('x', ''));
  const file = `${folder}/config.fifo`;
  execFileSync('mkfifo', [file]);
  return {
    folder,
    flags: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
    /** Resolves when the program is reading, with what writes. */
    reader: async () => {
      const handle = await open(file, 'w');
      return async (...stations: string[]) => {
        await handle.write(stringify(configOf(service.url, stations)));
        await handle.close();
      };
    },
  };
}

/** Sends the signal to itself as soon as it is handled, and prints whether the program was already loaded then. */
const SIGNAL_WHEN_HANDLED = `
  process.on('newListener', (name) => {
    if (name !== 'SIGHUP') return;
    const isLoaded = process.moduleLoadList.includes('NativeModule https');
    process.stdout.write('loaded: ' + isLoaded + '\\n');
    setImmediate(() => process.kill(process.pid, 'SIGHUP'));
  });
`;

describe('a signal', () => {
  it('to npm start ends the exporter, too', async () => {
    const child = spawn('npm', ['start', '--', '--web.listen-address=127.0.0.1:0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { url, closed } = outputOf(child);
    const base = await url();
    child.kill('SIGTERM');
    await closed;
    await expect(fetch(base)).rejects.toThrow();
  });

  it('is handled before the program is loaded', async () => {
    const { child, closed, output, url } = startProgram(
      { preload: SIGNAL_WHEN_HANDLED },
      ...['--demo', '--web.listen-address=127.0.0.1:0'],
    );
    await url();
    expect(output.stdout).toMatch(/^loaded: false\n/);
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
  });

  it('SIGHUP while the configuration is loaded reloads it afterwards', async () => {
    const { folder, flags, reader } = await writtenOnDemand();
    const { child, url } = startProgram({ folder }, ...flags);
    const writeFirst = await reader();
    child.kill('SIGHUP');
    await writeFirst('a');
    const base = await url();
    const writeSecond = await reader();
    await writeSecond('a', 'b');
    await eventually(async () => expect(await (await fetch(`${base}/sd`)).json()).toHaveLength(2));
  });

  it('SIGHUP ends a command that does not reload', async () => {
    const { child, output, closed } = startProgram({}, 'simulate', '--simulate.port=0');
    await eventually(() => expect(output.stdout).toContain('stations:'));
    child.kill('SIGHUP');
    expect(await closed).toEqual({ code: null, signal: 'SIGHUP' });
  });
});
