import type { FlagValues } from '../cli/flags.ts';
import { ownShard } from '../cli/own-shard.ts';
import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { diagnose } from '../diagnosis/diagnosis.ts';
import { examine } from '../diagnosis/examine.ts';
import { findingsOf } from '../diagnosis/findings.ts';
import { reportText } from '../diagnosis/report.ts';
import { loadInputs } from './inputs.ts';
import { complain, type Surface } from './surface.ts';

/** Validates the configuration and, with `--live`, tries it: every station once. Resolves with the exit code; the signal ends it at once. */
export async function check(surface: Surface, flags: FlagValues, load: () => Promise<LoadResult>, signal: AbortSignal): Promise<number> {
  const inputs = await loadInputs(load, flags['web.config.file']);
  if (!inputs.ok) return complain(surface, inputs.problems);
  surface.print(
    `${flags.demo ? 'the configuration of the demo' : flags['config.file']} is valid, stations: ${inputs.loaded.config.stations.length}\n`,
  );
  return flags.live ? checkLive(surface, flags, inputs.loaded, signal) : 0;
}

async function checkLive(surface: Surface, flags: FlagValues, loaded: LoadedConfig, signal: AbortSignal): Promise<number> {
  const own = ownShard(flags, surface.hostName);
  if (!own.ok) return complain(surface, [own.problem]);
  try {
    const diagnosis = diagnose(await examine(loaded, { build: surface.build, shard: own.shard, signal }));
    const nowMs = Date.now();
    const findings = findingsOf(diagnosis, { nowMs, scrapeTimeoutMs: flags['scrape.timeout'] });
    surface.print(`\n${reportText(diagnosis, findings, nowMs)}`);
    return findings.some(({ severity }) => severity === 'failure') ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    return complain(surface, [`ended by ${signal.reason} before every station had answered`]);
  }
}
