#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { isBrokenPipe } from './cli/data-output.ts';
import { LogOutput } from './cli/log-output.ts';
import type { ProcessContext } from './commands/process-context.ts';
import { readBuild, reportCrash, runProgram } from './program.ts';

// Node makes a pipe non-blocking when the stream is first used. Node's own warnings are written to the stream, and may fail too.
process.stderr.on('error', () => undefined);
const logOutput = new LogOutput({ write: (bytes) => writeSync(process.stderr.fd, bytes) });

const context: ProcessContext = {
  argv: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => logOutput.write(text),
  logOutput,
  stdout: process.stdout,
  errorColumns: () => (process.stderr.isTTY ? process.stderr.columns : undefined),
  signals: process,
  hostName: hostname(),
  build: readBuild(new URL('../', import.meta.url), process.version),
};

// Also called for unhandled rejections.
process.on('uncaughtException', (error, origin) => {
  reportCrash(context, error, origin);
  process.exit(1);
});

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error) => {
  if (isBrokenPipe(error)) return;
  context.printError(`cannot write: ${error.message}\n`);
  process.exit(1);
});

const exitCode = await runProgram(context);
// Exits without waiting for pending work such as a DNS lookup, but only after all output is written.
process.stdout.write('', async () => {
  await logOutput.drained();
  process.exit(exitCode);
});
