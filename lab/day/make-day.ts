/**
 * Makes a day of history in minutes: the built exporter, whose clock is moved from scrape to scrape, lists a seeded service, and the
 * shipped rules are evaluated on the result. Needs Prometheus. With a Grafana, takes README's pictures of it; needs Chromium.
 *   npm run day [-- FOLDER --grafana=http://127.0.0.1:3000]
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { startPrometheus } from '../../test/prometheus/live/prometheus.ts';
import { type AlertRule, alertSamples, alertStates } from './alerts.ts';
import { startClockedExporter } from './clocked-exporter.ts';
import { DAY, takePictures } from './pictures.ts';
import { sampleLine, scrapedSamples } from './samples.ts';
import { HOUR_MS, LAST_SCRAPE_MS, STEP_MS, startWorld } from './world.ts';

/** Before the day, so that ranges of an hour are complete from its start. */
const FIRST_MS = LAST_SCRAPE_MS - 25 * HOUR_MS;
/** A restart, which enables the series of single resources: too many for all of the day. */
const DEPLOYMENT_MS = LAST_SCRAPE_MS - 36 * STEP_MS;

/** Imported series have no staleness markers: a sample must not be found beyond the next scrape. */
const PROMETHEUS_FLAGS = ['--query.lookback-delta=2m59s999ms', '--storage.tsdb.retention.time=100y'];
const PROMETHEUS_CONFIG = '# Nothing is scraped.\n';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { grafana: { type: 'string' } } });
const { grafana } = values;
const folder = resolve(positionals[0] ?? '.tmp/day');
const data = join(folder, 'data');
const times = Array.from({ length: (LAST_SCRAPE_MS - FIRST_MS) / STEP_MS + 1 }, (_, step) => FIRST_MS + step * STEP_MS);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await importSamples('scrapes.om', writeScrapes);
for (const rule of shippedRules()) {
  await importSamples('rule.om', (add) => ('record' in rule ? writeRecording(rule, add) : writeAlerts(rule, add)));
}
if (grafana === undefined) {
  writeFileSync(join(folder, 'prometheus.yml'), PROMETHEUS_CONFIG);
  const flags = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${data}`, ...PROMETHEUS_FLAGS];
  console.log(`\nStart Prometheus:\n  prometheus ${flags.join(' ')}`);
  console.log(`Open a dashboard with a data source whose scrape interval is 3m: ?${DAY}`);
} else {
  const address = '127.0.0.1:9090';
  const prometheus = await startPrometheus(PROMETHEUS_CONFIG, { data, flags: PROMETHEUS_FLAGS, address });
  await takePictures(grafana);
  await prometheus.stop();
}

/** Adds blocks with the samples that a function writes as OpenMetrics. */
async function importSamples(name: string, write: (add: (samples: string) => void) => Promise<void>): Promise<void> {
  const file = join(folder, name);
  await write((samples) => appendFileSync(file, samples));
  if (!existsSync(file)) return;
  appendFileSync(file, '# EOF\n');
  // One block is much faster than one for each two hours.
  const flags = ['--quiet', '--max-block-duration=48h'];
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', ...flags, file, data]);
  rmSync(file);
}

async function writeScrapes(add: (samples: string) => void): Promise<void> {
  let nowMs = FIRST_MS;
  const { service, config } = await startWorld(() => nowMs);
  const configFile = join(folder, 'config.yaml');
  const start = (perResource: boolean) => {
    writeFileSync(configFile, stringify({ ...config, metrics: { per_resource: perResource } }));
    return startClockedExporter(configFile, nowMs);
  };
  let exporter = await start(false);
  for (nowMs of times) {
    if (nowMs === DEPLOYMENT_MS) {
      await exporter.stop();
      exporter = await start(true);
    }
    await exporter.moveTo(nowMs);
    const startedMs = performance.now();
    const exposition = await exporter.scrape();
    add(scrapedSamples(exposition, (performance.now() - startedMs) / 1000, nowMs / 1000));
    if ((LAST_SCRAPE_MS - nowMs) % HOUR_MS === 0) console.log(new Date(nowMs).toISOString());
  }
  await exporter.stop();
  await service.stop();
}

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

type Rule = AlertRule | RecordingRule;

/** In their order: a rule reads only recordings before it. */
function shippedRules(): Rule[] {
  const { groups } = parse(readFileSync('prometheus/rules.yml', 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

async function writeRecording({ record, expr, labels }: RecordingRule, add: (samples: string) => void): Promise<void> {
  for (const { metric, values } of await overTheDay(expr)) {
    const { __name__: _, ...series } = { ...metric, ...labels };
    add(values.map(([seconds, value]) => sampleLine(record, series, Number(value), seconds)).join(''));
  }
}

async function writeAlerts(rule: AlertRule, add: (samples: string) => void): Promise<void> {
  const evaluations = times.map((ms) => ms / 1000);
  let fired = 0;
  for (const { metric, values } of await overTheDay(rule.expr)) {
    const states = alertStates(rule, new Set(values.map(([seconds]) => seconds)), evaluations);
    if (states.some(({ state }) => state === 'firing')) fired += 1;
    add(alertSamples(rule, metric, states));
  }
  console.log(`${rule.alert}: ${fired} fired`);
}

interface RangeResult {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [seconds: number, value: string])[];
  }[];
}

/** Prometheus is started anew, because it finds imported blocks only then. */
async function overTheDay(query: string): Promise<RangeResult['result']> {
  const range = { start: `${FIRST_MS / 1000}`, end: `${LAST_SCRAPE_MS / 1000}`, step: `${STEP_MS / 1000}` };
  const prometheus = await startPrometheus(PROMETHEUS_CONFIG, { data, flags: PROMETHEUS_FLAGS });
  const { result } = await prometheus.api<RangeResult>('query_range', { query, ...range });
  await prometheus.stop();
  return result;
}
