import { readFileSync } from 'node:fs';
import { type CommandName, PROGRAM } from './cli/commands.ts';
import type { FlagValues } from './cli/flags.ts';
import { helpText } from './cli/help.ts';
import { OperatorError } from './cli/operator-error.ts';
import { parseFlags } from './cli/parse.ts';
import type { ProcessContext } from './commands/process-context.ts';
import type { Build } from './exposition/own-metrics.ts';

/** Resolves with a function that runs the command until it ends or a signal arrives, prints its problems and resolves with the exit code. */
export async function loadCommand(context: ProcessContext): Promise<() => Promise<number>> {
  const work = await loadWork(context);
  return async () => {
    try {
      const code = await work();
      return typeof code === 'number' ? code : 0;
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      for (const problem of error.problems) context.printError(`${problem}\n`);
      return error.exitCode;
    }
  };
}

/** Loads only what the command line requires: `--version` and `--help` need no command. */
async function loadWork(context: ProcessContext): Promise<() => unknown> {
  const { argv, print, build } = context;
  const parsed = parseFlags(argv);
  if (!parsed.ok)
    return () => {
      throw new OperatorError([...parsed.problems, 'try --help']);
    };
  const { flags, command, operand } = parsed;
  if (flags.help) return () => print(helpText(command));
  if (flags.version) return () => print(versionText(build));
  const run = await COMMAND_RUNNERS[flags['config.check'] ? 'check' : command]();
  return () => run(context, flags, operand);
}

function versionText({ version, revision, nodeVersion }: Build): string {
  return `${PROGRAM}, version ${version} (revision: ${revision})\n  node version: ${nodeVersion}\n`;
}

/** Called with the operand of the command; returns or resolves with the exit code, 0 if it is no number. */
type CommandRunner = (context: ProcessContext, flags: FlagValues, operand: string) => unknown;

const COMMAND_RUNNERS: Readonly<Record<CommandName, () => Promise<CommandRunner>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  check: async () => (await import('./commands/check.ts')).check,
  list: async () => (await import('./commands/list.ts')).list,
  record: async () => (await import('./commands/record.ts')).record,
  simulate: async () => (await import('./commands/simulate.ts')).simulate,
  drill: async () => (await import('./commands/drill.ts')).drill,
};

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
