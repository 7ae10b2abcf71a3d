import { createLogger } from './app/logger.ts';
import type { CommandName } from './cli/commands.ts';
import type { FlagValues } from './cli/flags.ts';
import { helpText, versionText } from './cli/help.ts';
import { parseFlags } from './cli/parse.ts';
import { check } from './commands/check.ts';
import { withConfig } from './commands/config-source.ts';
import { list } from './commands/list.ts';
import { exitCodeOf, type ProcessContext, printProblems, printText, terminationSignal } from './commands/process-context.ts';
import { record } from './commands/record.ts';
import { serve } from './commands/serve.ts';
import { simulateCommand } from './commands/simulate.ts';

/** Runs until the work is done or a signal ends it; resolves with the exit code. */
export async function runProgram(context: ProcessContext): Promise<number> {
  const parsed = parseFlags(context.argv);
  if (!parsed.ok) return printProblems(context, [...parsed.problems, 'try --help']);
  const { flags, command, operands } = parsed;
  if (flags.help) return printText(context, helpText());
  if (flags.version) return printText(context, versionText(context.build));
  return COMMANDS[flags['config.check'] ? 'check' : command](context, flags, operands);
}

/** The operands are as many as the command has; resolves with the exit code. */
type Run = (context: ProcessContext, flags: FlagValues, operands: readonly string[]) => Promise<number>;

const COMMANDS: Readonly<Record<CommandName, Run>> = {
  serve: (context, flags) =>
    exitCodeOf(
      context,
      withConfig(context, flags, (load) => serve(context, flags, load)),
    ),
  check: (context, flags) => withConfig(context, flags, (load) => check(context, flags, load, terminationSignal(context))),
  list: (context, flags, [station]) => exitCodeOf(context, list(context, flags, `${station}`)),
  record: (context, flags, [station]) => exitCodeOf(context, record(context, flags, `${station}`)),
  simulate: (context, flags) => exitCodeOf(context, simulateCommand(context, flags)),
};

/** Tells in one line of the log what nobody has handled. What the process holds may be half done by now: it has to end. */
export function reportCrash({ argv, printError }: Pick<ProcessContext, 'argv' | 'printError'>, error: unknown, origin: string): void {
  const parsed = parseFlags(argv);
  const format = parsed.ok ? parsed.flags['log.format'] : 'logfmt';
  const stack = error instanceof Error ? error.stack : undefined;
  createLogger({ level: 'error', format, write: printError }).error('unhandled failure, the process ends', { origin, error, stack });
}
