import { readFileSync } from 'node:fs';
import { createLogger } from './app/logger.ts';
import type { CommandName, Shell } from './cli/commands.ts';
import type { FlagValues } from './cli/flags.ts';
import { helpText, versionText } from './cli/help.ts';
import { parseFlags } from './cli/parse.ts';
import {
  exitCodeOf,
  type ProcessContext,
  printProblems,
  printText,
  terminationSignal,
} from './commands/process-context.ts';
import type { Build } from './metrics/own-metrics.ts';

/** Runs the command until it ends or a signal arrives; resolves with the exit code. */
export async function runProgram(context: ProcessContext): Promise<number> {
  const run = await loadCommand(context);
  return run();
}

/** Loads what the command line requires and no more: `--version` and `--help` need no command. */
export async function loadCommand(context: ProcessContext): Promise<() => number | Promise<number>> {
  const parsed = parseFlags(context.argv);
  if (!parsed.ok) return () => printProblems(context, [...parsed.problems, 'try --help']);
  const { flags, command, operands } = parsed;
  if (flags.help) return () => printText(context, helpText(command));
  if (flags.version) return () => printText(context, versionText(context.build));
  const run = await COMMANDS[flags['config.check'] ? 'check' : command]();
  return () => run(context, flags, operands);
}

/** Called with exactly the operands of the command; resolves with the exit code. */
type Run = (context: ProcessContext, flags: FlagValues, operands: readonly string[]) => Promise<number>;

const COMMANDS: Readonly<Record<CommandName, () => Promise<Run>>> = {
  serve: async () => {
    const { serve } = await import('./commands/serve.ts');
    return (context, flags) => exitCodeOf(context, serve(context, flags));
  },
  check: async () => {
    const [{ check }, { withConfig }] = await Promise.all([
      import('./commands/check.ts'),
      import('./commands/config-source.ts'),
    ]);
    return (context, flags) =>
      withConfig(context, flags, (load) => check(context, flags, load, terminationSignal(context)));
  },
  list: async () => {
    const { list } = await import('./commands/list.ts');
    return (context, flags, [station]) => exitCodeOf(context, list(context, flags, `${station}`));
  },
  record: async () => {
    const { record } = await import('./commands/record.ts');
    return (context, flags, [station]) => exitCodeOf(context, record(context, flags, `${station}`));
  },
  simulate: async () => {
    const { simulateCommand } = await import('./commands/simulate.ts');
    return (context, flags) => exitCodeOf(context, simulateCommand(context, flags));
  },
  completion: async () => {
    const { completionScript } = await import('./cli/completion.ts');
    return async (context, _flags, [shell]) => printText(context, completionScript(shell as Shell));
  },
  help:
    async () =>
    async (context, _flags, [name]) =>
      printText(context, helpText(name as CommandName | undefined)),
  version: async () => async (context) => printText(context, versionText(context.build)),
};

/** Logs an unhandled exception in one line. The caller must exit, because the state of the process is undefined. */
export function reportCrash(
  { argv, printError }: Pick<ProcessContext, 'argv' | 'printError'>,
  error: unknown,
  origin: string,
): void {
  const parsed = parseFlags(argv);
  const format = parsed.ok ? parsed.flags['log.format'] : 'logfmt';
  const stack = error instanceof Error ? error.stack : undefined;
  createLogger({ level: 'error', format, write: printError }).error('unhandled exception, exiting', {
    origin,
    error,
    stack,
  });
}

/** Reads the version from package.json and the revision from the file REVISION, which only a release has. */
export function readBuild(folder: URL, nodeVersion: string): Build {
  const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string };
  return { version, revision: readRevision(new URL('REVISION', folder)), nodeVersion };
}

function readRevision(file: URL): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
