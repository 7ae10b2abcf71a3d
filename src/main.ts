#!/usr/bin/env node
import { hostname } from 'node:os';
import { readBuild } from './build.ts';
import { reportCrash } from './crash.ts';
import { runProgram, type Surface } from './program.ts';

const surface: Surface = {
  argv: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  signals: process,
  hostName: hostname(),
  build: readBuild(new URL('../', import.meta.url), process.version),
};

// Rejections that nobody handles arrive here as well.
process.on('uncaughtException', (error, origin) => {
  reportCrash(surface, error, origin);
  process.exit(1);
});

const exitCode = await runProgram(surface);
// What still waits, such as a name that is being resolved, is waited for no longer; what was said has to be written first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
