import { type Generation, stationsOf } from '../app/composition.ts';
import { statusesOf, upstreamStatus } from '../app/status.ts';
import { accessWarnings } from '../app/web-access.ts';
import { chainReport } from '../cli/chain-report.ts';
import { checkReport, verdictText } from '../cli/check-report.ts';
import { writeToStream } from '../cli/data-output.ts';
import { type FlagValues, ownShard } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { resourceTable } from '../cli/resource-table.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type CheckResult, labelMatches, type StationResult } from '../diagnosis/check-result.ts';
import { checkConnection } from '../diagnosis/connection-check.ts';
import { coverageVerdict, hasLabels } from '../diagnosis/coverage-limits.ts';
import { checkProblems } from '../diagnosis/diagnosis.ts';
import type { Body } from '../exposition/exposition.ts';
import { getOrCreate } from '../model/sums.ts';
import { searchStations } from '../query/selection.ts';
import type { Resources } from '../resources/collector.ts';
import { columnsWith, type Resource } from '../resources/fields.ts';
import { ResourceLabels } from '../resources/resource-labels.ts';
import type { Shard } from '../stations/shard.ts';
import type { StationCache } from '../stations/station-cache.ts';
import { scrapeSize } from '../status/scrape-size.ts';
import { foundColumns } from '../status/station-columns.ts';
import type { StationStatus } from '../status/station-status.ts';
import { csvPieces, jsonPieces } from '../text/records.ts';
import { readChain } from './alerting-chain.ts';
import { loadInputs, withConfig } from './config-source.ts';
import { type ProcessContext, screenOf } from './process-context.ts';
import { checkLabels } from './read-station.ts';
import { withStations } from './with-stations.ts';

/** Validates the configuration and, with `--live`, refreshes every station once. Resolves with the exit code; a signal aborts it. */
export async function check(context: ProcessContext, flags: FlagValues): Promise<number> {
  return withConfig(context, flags, async (load) => {
    const { loaded, rules } = await loadInputs(load, flags['web.config.file']);
    const own = ownShard(flags, context.hostName);
    if (!own.ok && flags.live) throw new OperatorError([own.problem]);
    const { config, warnings, securityWarnings } = loaded;
    checkLabels(flags, new ResourceLabels(config.resource_labels).names);
    const ofAccess = accessWarnings(flags['web.config.file'], rules);
    const printed = [...warnings, ...securityWarnings, ...ofAccess];
    for (const warning of printed) context.printError(`warning: ${warning}\n`);
    const file = flags.demo ? 'the configuration of the demo' : flags['config.file'];
    const share =
      own.ok && own.shard.total > 1
        ? `, ${stationsOf(config, own.shard).length} of them on shard ${own.shard.ordinal} of ${own.shard.total}`
        : '';
    printerOf(context, flags)(`${file} is valid, stations: ${config.stations.length}${share}\n`);
    const code = flags.live && own.ok ? await checkLive(context, flags, loaded, own.shard, printed.length) : 0;
    return Math.max(code, await checkChain(context, flags, loaded));
  });
}

async function checkLive(
  context: ProcessContext,
  flags: FlagValues,
  loaded: LoadedConfig,
  shard: Shard,
  configWarnings: number,
): Promise<number> {
  const result = await withStations(context, loaded, { shard }, resultOf);
  const problems = checkProblems(result, flags['scrape.timeout']);
  const verdict = coverageVerdict(result.stations, {
    minCoverage: flags['min-coverage'],
    maxWithoutRules: flags['max-without-rules'],
    maxAgeMs: flags['max-uncovered-age'],
    nowMs: result.nowMs,
    labels: flags.label,
  });
  const isExceeded = verdict.problems.length > 0;
  const screen = screenOf(context, flags.wide);
  const print = printerOf(context, flags);
  print(`\n${checkReport(result, problems, configWarnings, screen)}`);
  if (flags.format !== 'table' || isExceeded) await printWithoutRules(context, flags, result.stations);
  // Last, where it is seen below a long table.
  print(verdictText(verdict, screen));
  return isExceeded || problems.some(({ category }) => category === 'failing') ? 1 : 0;
}

async function checkChain(context: ProcessContext, flags: FlagValues, loaded: LoadedConfig): Promise<number> {
  if (!flags['prometheus.url'] && !flags['alertmanager.url']) return 0;
  const { findings, routes } = await readChain(context, flags, loaded);
  printerOf(context, flags)(`\n${chainReport(findings, routes, screenOf(context, flags.wide))}`);
  return findings.some(({ verdict }) => verdict === 'failure') ? 1 : 0;
}

/** Only data goes to stdout if another program reads it. */
function printerOf({ print, printError }: ProcessContext, { format }: FlagValues): (text: string) => void {
  return format === 'table' ? print : printError;
}

/** The resources that count as without alert rules, of those with the given labels. */
async function printWithoutRules(
  context: ProcessContext,
  { format, wide, label, 'max-uncovered-age': maxAge }: FlagValues,
  stations: readonly StationResult[],
): Promise<void> {
  const searched = stations.map(({ spec, listed }) => ({ ...spec, parts: listed?.snapshot.parts }));
  const withoutRules = await searchStations(searched, { without_rules: 'yes' }, maxAge === undefined ? '' : 'created');
  const found = (await withoutRules.found.rows()).filter(({ resource }) => hasLabels(resource, label));
  const labels = stations[0]?.spec.resourceLabels.names ?? [];
  if (format !== 'table') {
    const pieces = format === 'json' ? jsonPieces : csvPieces;
    await writeToStream(context.stdout, pieces(foundColumns(labels), found));
    return;
  }
  const byStation = new Map<string, Resource[]>();
  for (const { station, resource } of found) getOrCreate(byStation, station, () => []).push(resource);
  for (const [station, resources] of byStation) {
    context.print(`\nWithout alert rules in ${station}:\n`);
    const { lines } = resourceTable(resources, columnsWith(labels), screenOf(context, wide));
    await writeToStream(context.stdout, lines);
  }
}

/** Refreshes every station once. */
async function resultOf(generation: Generation): Promise<CheckResult> {
  const caches = [...generation.stations.values()];
  const refreshed = async (station: StationCache<Resources>) => {
    await Promise.all([station, ...station.further].map((cache) => cache.refresh()));
    const view = station.view();
    return {
      view,
      series: await seriesIn(generation.exposition.stationBody([view], 'text')),
      spec: view.spec,
      listed: view.served?.data,
    };
  };
  const queried = [...generation.upstreams].filter(([name]) => caches.some(({ spec }) => spec.upstream === name));
  const checks = queried.map(([name, upstream]) => ({ name, upstream, connection: checkConnection(upstream.options) }));
  const stations = await Promise.all(caches.map(refreshed));
  const views = stations.map(({ view }) => view);
  const observed = checks.map(async ({ name, upstream, connection }) => ({
    ...upstreamStatus(name, upstream, views),
    ...(await connection),
    options: upstream.options,
    access: upstream.access,
  }));
  const upstreams = await Promise.all(observed);
  const statuses = statusesOf(generation, views);
  const scrape = scrapeSize(generation.exposition.stationBody(views, 'text'), views);
  return {
    upstreams,
    scrape,
    stations: stations.map((station, at) => ({ ...station, status: statuses[at] as StationStatus })),
    labelMatches: labelMatches(generation.loaded.config.resource_labels, stations),
    nowMs: Date.now(),
  };
}

const [COMMENT = 0, LINE_FEED = 0] = Buffer.from('#\n');

/** Each series is a line; the others are comments. */
async function seriesIn(body: Body): Promise<number> {
  let series = 0;
  let isLineStart = true;
  for await (const chunk of body.plain()) {
    for (const byte of chunk) {
      if (isLineStart && byte !== COMMENT) series += 1;
      isLineStart = byte === LINE_FEED;
    }
  }
  return series;
}
