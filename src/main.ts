#!/usr/bin/env node
import { hostname } from 'node:os';
import { readBuild } from './build.ts';
import { isReaderGone } from './cli/data-output.ts';
import type { ProcessContext } from './commands/process-context.ts';
import { reportCrash, runProgram } from './program.ts';

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

// Rejections that nobody handles arrive here as well.
process.on('uncaughtException', (error, origin) => {
  reportCrash(context, error, origin);
  process.exit(1);
});

// Whoever reads the output may stop when it has seen enough.
process.stdout.on('error', (error) => {
  if (isReaderGone(error)) return;
  context.printError(`cannot write: ${error.message}\n`);
  process.exit(1);
});

const exitCode = await runProgram(context);
// What still waits, such as a name that is being resolved, is waited for no longer; what was said has to be written first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
