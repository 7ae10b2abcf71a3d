#!/usr/bin/env node
import { hostname } from 'node:os';
import { isBrokenPipe } from './cli/data-output.ts';
import type { ProcessContext } from './commands/process-context.ts';
import { readBuild, reportCrash, runProgram } from './program.ts';

const context: ProcessContext = {
  argv: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
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
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
