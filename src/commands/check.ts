import { openAccessWarning } from '../app/web-access.ts';
import { checkReport } from '../cli/check-report.ts';
import { type FlagValues, ownShard } from '../cli/flags.ts';
import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { resolveStations } from '../config/resolve.ts';
import { checkMessages } from '../diagnosis/check-messages.ts';
import { diagnose } from '../diagnosis/diagnosis.ts';
import { isOnShard, type Shard } from '../refresh/shard.ts';
import { checkStations } from './check-stations.ts';
import { loadInputs, withConfig } from './config-source.ts';
import { Interrupted, OperatorError, type ProcessContext, screenOf, terminationSignal } from './process-context.ts';

/** Validates the configuration and, with `--live`, refreshes every station once. Resolves with the exit code; a signal aborts it. */
export async function check(context: ProcessContext, flags: FlagValues): Promise<number> {
  return withConfig(context, flags, (load) => checkLoaded(context, flags, load));
}

async function checkLoaded(
  context: ProcessContext,
  flags: FlagValues,
  load: () => Promise<LoadResult>,
): Promise<number> {
  const signal = terminationSignal(context);
  const inputs = await loadInputs(load, flags['web.config.file']);
  if (!inputs.ok) throw new OperatorError(inputs.problems);
  const own = ownShard(flags, context.hostName);
  if (!own.ok && flags.live) throw new OperatorError([own.problem]);
  const { config, warnings, securityWarnings } = inputs.loaded;
  const openAccess = openAccessWarning(flags['web.config.file'], inputs.rules) ?? [];
  for (const warning of [...warnings, ...securityWarnings].concat(openAccess))
    context.printError(`warning: ${warning}\n`);
  const file = flags.demo ? 'the configuration of the demo' : flags['config.file'];
  const share = own.ok ? shareOf(own.shard, config) : '';
  context.print(`${file} is valid, stations: ${config.stations.length}${share}\n`);
  return flags.live && own.ok ? checkLive(context, flags, inputs.loaded, own.shard, signal) : 0;
}

function shareOf(shard: Shard, config: LoadedConfig['config']): string {
  if (shard.total === 1) return '';
  const stations = resolveStations(config).filter(({ name }) => isOnShard(name, shard)).length;
  return `, ${stations} of them on shard ${shard.ordinal} of ${shard.total}`;
}

async function checkLive(
  context: ProcessContext,
  flags: FlagValues,
  loaded: LoadedConfig,
  shard: Shard,
  signal: AbortSignal,
): Promise<number> {
  try {
    const diagnosis = diagnose(await checkStations(loaded, { build: context.build, shard, signal }));
    const nowMs = Date.now();
    const messages = checkMessages(diagnosis, { nowMs, scrapeTimeoutMs: flags['scrape.timeout'] });
    const configWarnings = loaded.warnings.length + loaded.securityWarnings.length;
    context.print(`\n${checkReport(diagnosis, messages, { nowMs, configWarnings }, screenOf(context, flags.wide))}`);
    return messages.some(({ severity }) => severity === 'failure') ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    context.printError(`aborted by ${signal.reason} before every station was checked\n`);
    throw new Interrupted(signal.reason as NodeJS.Signals);
  }
}
