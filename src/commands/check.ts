import { checkReport } from '../cli/check-report.ts';
import { type FlagValues, ownShard } from '../cli/flags.ts';
import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { checkMessages } from '../diagnosis/check-messages.ts';
import { diagnose } from '../diagnosis/diagnosis.ts';
import { checkStations } from './check-stations.ts';
import { loadInputs } from './config-source.ts';
import { exitCodeOfSignal, type ProcessContext, printProblems, screenOf } from './process-context.ts';

/** Validates the configuration and, with `--live`, refreshes every station once. Resolves with the exit code; the signal aborts it. */
export async function check(
  context: ProcessContext,
  flags: FlagValues,
  load: () => Promise<LoadResult>,
  signal: AbortSignal,
): Promise<number> {
  const inputs = await loadInputs(load, flags['web.config.file']);
  if (!inputs.ok) return printProblems(context, inputs.problems);
  const { warnings, securityWarnings } = inputs.loaded;
  for (const warning of [...warnings, ...securityWarnings]) context.printError(`warning: ${warning}\n`);
  context.print(
    `${flags.demo ? 'the configuration of the demo' : flags['config.file']} is valid, stations: ${inputs.loaded.config.stations.length}\n`,
  );
  return flags.live ? checkLive(context, flags, inputs.loaded, signal) : 0;
}

async function checkLive(
  context: ProcessContext,
  flags: FlagValues,
  loaded: LoadedConfig,
  signal: AbortSignal,
): Promise<number> {
  const own = ownShard(flags, context.hostName);
  if (!own.ok) return printProblems(context, [own.problem]);
  try {
    const diagnosis = diagnose(await checkStations(loaded, { build: context.build, shard: own.shard, signal }));
    const nowMs = Date.now();
    const messages = checkMessages(diagnosis, { nowMs, scrapeTimeoutMs: flags['scrape.timeout'] });
    const configWarnings = loaded.warnings.length + loaded.securityWarnings.length;
    context.print(`\n${checkReport(diagnosis, messages, { nowMs, configWarnings }, screenOf(context, flags.wide))}`);
    return messages.some(({ severity }) => severity === 'failure') ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    context.printError(`aborted by ${signal.reason} before every station was checked\n`);
    return exitCodeOfSignal(signal.reason);
  }
}
