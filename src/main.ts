import { EventEmitter } from 'node:events';
import { constants, hostname } from 'node:os';
import { isBrokenPipe } from './cli/data-output.ts';
import { LogOutput } from './cli/log-output.ts';
import type { ProcessContext } from './commands/process-context.ts';

// First of all, because the default action of each of these signals ends the process.
const signals = new EventEmitter();
let isRunning = false;
let isEnding = false;
for (const name of ['SIGHUP', 'SIGTERM', 'SIGINT'] as const) {
  process.on(name, () => {
    isEnding ||= name !== 'SIGHUP';
    const isHandled = signals.emit(name);
    // A command that does not run yet has nothing to reload.
    if (!isHandled && (name !== 'SIGHUP' || isRunning)) endBy(name);
  });
}

const logOutput = new LogOutput(process.stderr);

/** How long lines that are not yet written delay the end after a termination signal. */
const LOG_DRAIN_MS = 1000;

// Loaded after the signal handlers, because it takes much longer than anything above.
const { loadCommand, readBuild } = await import('./program.ts');

/** Of package.json: the build puts this file into dist/src. */
const packageFolder = new URL('../../', import.meta.url);

const context: ProcessContext = {
  argv: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => logOutput.write(text),
  logOutput,
  stdout: process.stdout,
  errorColumns: () => (process.stderr.isTTY ? process.stderr.columns : undefined),
  outputColumns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
  signals,
  hostName: hostname(),
  packageFolder,
  build: readBuild(packageFolder, process.version),
};

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error) => {
  if (isBrokenPipe(error)) return;
  context.printError(`cannot write: ${error.message}\n`);
  process.exit(1);
});

const run = await loadCommand(context);
// From here on a command that handles SIGHUP listens to it.
isRunning = true;
const exitCode = await run();
// Exits without waiting for pending work such as a DNS lookup, but only after all output is written.
process.stdout.write('', async () => {
  await logOutput.drained(isEnding ? LOG_DRAIN_MS : undefined);
  process.exit(exitCode);
});

/** The default action of a signal that the command does not handle. */
function endBy(name: NodeJS.Signals): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
  // The first process of a container is exempt from the default action.
  process.exit(128 + constants.signals[name]);
}
