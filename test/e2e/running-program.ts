import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { LogOutput } from '../../src/cli/log-output.ts';
import { loadCommand } from '../../src/program.ts';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { httpRequest } from '../web/http-client.ts';

const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v0.0.0' };

/** Runs the program in this process until the test finishes. */
export function run(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  hostName = 'exporter',
  errorColumns?: number,
  outputColumns?: number,
) {
  const signals = new EventEmitter();
  let stdout = '';
  let stderr = '';
  const logOutput = new LogOutput(
    new Writable({
      write: (bytes, _encoding, done) => {
        stderr += bytes;
        done();
      },
    }),
  );
  const exit = loadCommand({
    argv,
    env,
    print: (text) => {
      stdout += text;
    },
    stdout: new Writable({
      write(chunk, _encoding, done) {
        stdout += chunk;
        done();
      },
    }),
    errorColumns: () => errorColumns,
    outputColumns: () => outputColumns,
    printError: (text) => logOutput.write(text),
    logOutput,
    signals,
    hostName,
    packageFolder: new URL('../../', import.meta.url),
    build,
    webConfigIntervalMs: 50,
  }).then((command) => command());
  onTestFinished(async () => {
    signals.emit('SIGTERM');
    await exit.catch(() => undefined);
  });
  const listening = () =>
    eventually(() => {
      const [, found] = /msg=listening .*port=(\d+)/.exec(stderr) ?? [];
      expect(found, stderr).toBeDefined();
      return Number(found);
    });
  return { signals, exit, listening, output: () => ({ stdout, stderr }) };
}

/** The exit code and the output of a run that ends by itself. */
export async function resultOf(...parameters: Parameters<typeof run>) {
  const { exit, output } = run(...parameters);
  return { code: await exit, ...output() };
}

/** The flag for a configuration file, which is removed when the test finishes. */
export const configFlag = (config: object) => `--config.file=${temporaryFile('config.yaml', stringify(config))}`;

/** Runs `simulate` on a free port, and parses the configuration that it prints. */
export async function simulate(...flags: string[]) {
  const program = run(['simulate', '--simulate.port=0', ...flags]);
  await eventually(() => expect(program.output().stdout).toContain('stations:'));
  return { ...program, config: parse(program.output().stdout) };
}

/** Runs `serve` on a free port, with the configuration in a file. */
export async function serve(config: object, ...flags: string[]) {
  const file = temporaryFile('config.yaml', stringify(config));
  const program = run([`--config.file=${file}`, '--web.listen-address=127.0.0.1:0', ...flags]);
  const port = await program.listening();
  const get = (path: string, headers: Record<string, string> = {}) => httpRequest(port, path, { headers });
  return {
    ...program,
    file,
    port,
    get,
    scrape: async (path = '/metrics', headers: Record<string, string> = {}) =>
      parseExposition((await get(path, headers)).body),
  };
}
