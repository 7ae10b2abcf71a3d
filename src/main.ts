#!/usr/bin/env node
import { readBuild } from './build.ts';
import { runProgram } from './program.ts';

process.exitCode = await runProgram({
  argv: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  signals: process,
  build: readBuild(new URL('../', import.meta.url), process.version),
});
