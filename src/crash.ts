import { parseFlags } from './cli/parse.ts';
import type { Surface } from './commands/surface.ts';
import { createLogger } from './logger.ts';

/** Tells in one line of the log what nobody has handled. What the process holds may be half done by now: it has to end. */
export function reportCrash({ argv, printError }: Pick<Surface, 'argv' | 'printError'>, error: unknown, origin: string): void {
  const parsed = parseFlags(argv);
  const format = parsed.ok ? parsed.flags['log.format'] : 'logfmt';
  const stack = error instanceof Error ? error.stack : undefined;
  createLogger({ level: 'error', format, write: printError }).error('unhandled failure, the process ends', { origin, error, stack });
}
