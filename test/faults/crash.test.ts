import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { reportCrash } from '../../src/program.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';

describe('an exception in a refresh', () => {
  it('fails only that station with reason internal, and logs the stack', async () => {
    const request = Dispatcher.prototype.request;
    const spy = vi.spyOn(Dispatcher.prototype, 'request').mockImplementation(function (
      this: Dispatcher,
      ...args: unknown[]
    ) {
      if (JSON.stringify(args[0]).includes('/telemetryStations/broken/')) throw new TypeError('a bug of ours');
      return Reflect.apply(request, this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const service = await startTestService({ source: () => entriesOf(3) });
    const exporter = await startReadyExporter(configOf(service.url, ['broken', 'sound']));
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const families = await exporter.scrape();
      expect(stateOf(families, 'broken')).toEqual(expectedState('internal'));
      expect(stateOf(families, 'sound')).toEqual(expectedState(undefined));
    }
    expect(exporter.log.join('')).toMatch(
      /station=broken reason=internal error="a bug of ours" .*stack="TypeError: a bug of ours\\n {4}at /,
    );
    spy.mockRestore();
    expect(stateOf(await exporter.scrape(), 'broken')).toEqual(expectedState(undefined));
  });
});

describe('reportCrash', () => {
  const reported = (argv: readonly string[], error: unknown) => {
    let text = '';
    reportCrash({ argv, printError: (line) => (text += line) }, error, 'uncaughtException');
    return text;
  };

  it('logs one line with the stack, in the configured format', () => {
    const error = new Error('broken', { cause: new Error('because') });
    const { ts, ...line } = JSON.parse(reported(['--log.format=json', '--log.level=error'], error));
    expect(line).toEqual({
      level: 'error',
      msg: 'unhandled exception, exiting',
      origin: 'uncaughtException',
      error: 'broken: because',
      stack: error.stack,
    });
    expect(reported([], error)).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" origin=\S+ error="broken: because" stack=.*\n$/,
    );
  });

  it('logs a value that is not an Error, even with invalid flags', () => {
    expect(reported(['--no-such-flag'], 'only a text')).toMatch(/ error="only a text"\n$/);
  });
});

describe('main', () => {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

  /** The built program in a process of its own, with a module loaded before it. */
  function start(before: string, ...flags: string[]) {
    const module = `data:text/javascript,${encodeURIComponent(before)}`;
    const child = spawn(process.execPath, ['--import', module, main, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const waitForOutput = async (text: string) => {
      while (!stderr.includes(text)) await once(child.stderr, 'data');
    };
    return { child, waitForOutput, ended: once(child, 'close'), output: () => stderr };
  }

  it.each([
    ['an unhandled rejection', 'Promise.reject(new TypeError("provoked"))', 'unhandledRejection'],
    ['an uncaught exception', 'setTimeout(() => { throw new TypeError("provoked") })', 'uncaughtException'],
  ])('logs %s in one line, and exits with 1', async (_what, failure, origin) => {
    const program = start(
      `process.once('SIGUSR2', () => { ${failure} });`,
      ...['--demo', '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    );
    await program.waitForOutput('"msg":"listening"');
    const before = program.output().length;
    program.child.kill('SIGUSR2');
    expect(await program.ended).toEqual([1, null]);
    const lines = program
      .output()
      .slice(before)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      {
        ts: expect.any(String),
        level: 'error',
        msg: 'unhandled exception, exiting',
        origin,
        error: 'provoked',
        stack: expect.stringContaining('TypeError: provoked\n    at '),
      },
    ]);
  });

  it('logs an exception during startup, and exits with 1', async () => {
    const program = start('process.stdout.write = () => { throw new Error("no output") };', '--version');
    expect(await program.ended).toEqual([1, null]);
    expect(program.output()).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" .*error="no output" stack=.*\n$/,
    );
  });
});
