import type { CommandName } from './cli/commands.ts';
import type { FlagValues } from './cli/flags.ts';
import { helpText, versionText } from './cli/help.ts';
import { parseFlags } from './cli/parse.ts';
import { check } from './commands/check.ts';
import { withConfig } from './commands/chosen-config.ts';
import { list } from './commands/list.ts';
import { settle } from './commands/operator-error.ts';
import { record } from './commands/record.ts';
import { serve } from './commands/serve.ts';
import { runSimulation } from './commands/simulate.ts';
import { complain, endOf, type Surface, say } from './commands/surface.ts';

/** Runs until the work is done or a signal ends it; resolves with the exit code. */
export async function runProgram(surface: Surface): Promise<number> {
  const parsed = parseFlags(surface.argv);
  if (!parsed.ok) return complain(surface, [...parsed.problems, 'try --help']);
  const { flags, command, operands } = parsed;
  if (flags.help) return say(surface, helpText());
  if (flags.version) return say(surface, versionText(surface.build));
  return COMMANDS[flags['config.check'] ? 'check' : command](surface, flags, operands);
}

/** The operands are as many as the command has; resolves with the exit code. */
type Run = (surface: Surface, flags: FlagValues, operands: readonly string[]) => Promise<number>;

const COMMANDS: Readonly<Record<CommandName, Run>> = {
  serve: (surface, flags) =>
    settle(
      surface,
      withConfig(surface, flags, (load) => serve(surface, flags, load)),
    ),
  check: (surface, flags) => withConfig(surface, flags, (load) => check(surface, flags, load, endOf(surface))),
  list: (surface, flags, [station]) => settle(surface, list(surface, flags, `${station}`)),
  record: (surface, flags, [station]) => settle(surface, record(surface, flags, `${station}`)),
  simulate: (surface, flags) => settle(surface, runSimulation(surface, flags)),
};
