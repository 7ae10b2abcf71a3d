import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { slow } from '../../../lab/simulator/faults.ts';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { configFlag, resultOf } from '../../e2e/running-program.ts';
import { configOf, entriesOf, startExporter } from '../../e2e/test-bed.ts';
import { closedPort } from '../../service/support/service.ts';
import { type SimulatedService, startSimulatedService } from '../../simulator/simulated-service.ts';
import { startAlertmanagerWith } from './alertmanager.ts';
import { startPrometheus } from './prometheus.ts';

const JOB = 'telemetry-station-exporter';

interface Place {
  readonly exporter: string;
  readonly alertmanager: string;
  readonly closed: string;
  /** Of a scrape. */
  readonly bytes: number;
}

type Config = Record<string, unknown>;

/** A chain in which one thing is broken. */
interface World {
  readonly broken: string;
  /** Of the only job. */
  readonly scrape?: (place: Place) => object;
  readonly prometheus?: (place: Place) => object;
  readonly rules?: (rules: string) => string;
  /** The configuration of Alertmanager. */
  readonly alertmanager?: (config: Config) => object;
  readonly isSlow?: true;
  readonly stations?: readonly string[];
  readonly says: RegExp;
  readonly cure: RegExp;
}

const relabel = (...configs: object[]) => ({ metric_relabel_configs: configs });

const WORLDS: readonly World[] = [
  {
    broken: 'Prometheus scrapes nothing',
    prometheus: () => ({ scrape_configs: [] }),
    says: /failure: No target was this exporter/,
    cure: /Add the exporter to scrape_configs/,
  },
  {
    broken: 'the address of the target is wrong',
    scrape: ({ closed }) => ({ static_configs: [{ targets: [closed] }] }),
    says: /is down: .*connection refused/,
    cure: /Start the exporter, or correct the address/,
  },
  {
    broken: 'the path of the target is wrong',
    scrape: () => ({ metrics_path: '/metric' }),
    says: /is down: .*404 Not Found/,
    cure: /Correct what the error names/,
  },
  {
    broken: 'a refresh takes longer than scrape_timeout',
    isSlow: true,
    says: /warning: .*a refresh takes .* longer than scrape_timeout 1s/,
    cure: /Raise scrape_timeout, or set cache.refresh to background/,
  },
  {
    broken: 'sample_limit is crossed',
    scrape: () => ({ sample_limit: 100 }),
    says: /is down: sample limit exceeded/,
    cure: /Raise sample_limit/,
  },
  {
    broken: 'sample_limit will be crossed soon',
    scrape: () => ({ sample_limit: 500 }),
    says: /warning: A scrape of job \S+ has \d+ series, near its sample_limit of 500/,
    cure: /Raise sample_limit/,
  },
  {
    broken: 'body_size_limit is crossed',
    scrape: () => ({ body_size_limit: '10KB' }),
    says: /is down: body size limit exceeded/,
    cure: /Raise body_size_limit/,
  },
  {
    broken: 'body_size_limit, which Prometheus prints with two units, will be crossed soon',
    scrape: ({ bytes }) => ({ body_size_limit: `${Math.round(1.15 * bytes)}B` }),
    says: /warning: A scrape of job \S+ has [\d,]+ bytes, near its body_size_limit of /,
    cure: /Raise body_size_limit/,
  },
  {
    broken: 'the rules are missing',
    rules: () => stringify({ groups: [] }),
    says: /failure: None of the shipped rules is loaded/,
    cure: /Add prometheus\/rules.yml to rule_files/,
  },
  {
    broken: 'the rules are older: what alerts read is not recorded',
    rules: (rules) => rules.replaceAll('record: station:telemetry_set:known', 'record: station:telemetry_set:last'),
    says: /failure: Missing rules: station:telemetry_set:known/,
    cure: /Load the rules of the version/,
  },
  {
    broken: 'the rules are older: an alert has another name',
    rules: (rules) => rules.replaceAll('alert: TelemetryStationDataStale', 'alert: TelemetryStationOld'),
    says: /warning: Missing alerts: TelemetryStationDataStale[\s\S]*warning: Alerts of another version: TelemetryStationOld/,
    cure: /Load the rules of the version/,
  },
  {
    broken: 'an expression was changed',
    rules: (rules) =>
      rules.replace(
        'station:telemetry_station_up:known{job="telemetry-station-exporter"} == 0',
        '$& unless absent(up)',
      ),
    says: /warning: TelemetryStationDown has another expression than the one shipped: .* unless absent/,
    cure: /Load the rules of the version/,
  },
  {
    broken: 'the exporter has another job than the rules',
    scrape: () => ({ job_name: 'monitor' }),
    says: /failure: The rules select job="telemetry-station-exporter", but the job of the exporter is monitor/,
    cure: /Replace the job in the rules/,
  },
  {
    broken: 'the rules have another job than the exporter',
    rules: (rules) => rules.replaceAll(`job="${JOB}"`, 'job=~"monitor|other",station!~"lab-.*"'),
    says: /failure: The rules select job=~"monitor\|other", but the job/,
    cure: /Replace the job in the rules/,
  },
  {
    broken: 'a rule cannot be evaluated',
    rules: (rules) => rules.replace(/expr: timestamp\((.*)\)/, 'expr: $1 + on (job) $1'),
    says: /failure: replica:station:seen cannot be evaluated: .*many-to-many/,
    cure: /Correct what the error names/,
  },
  {
    broken: 'metric_relabel_configs drop a metric',
    scrape: () => relabel({ source_labels: ['__name__'], regex: 'telemetry_station_(up|listing.*)', action: 'drop' }),
    says: /failure: Prometheus lacks what the rules read: .*telemetry_station_up/,
    cure: /Remove from metric_relabel_configs what drops it/,
  },
  {
    broken: 'metric_relabel_configs drop the series of resources, which only exist while one is firing',
    scrape: () => relabel({ source_labels: ['__name__'], regex: 'telemetry_station_resource_.*', action: 'drop' }),
    says: /failure: Prometheus lacks what the rules read: telemetry_station_resource_firing\./,
    cure: /Remove from metric_relabel_configs what drops it/,
  },
  {
    broken: 'metric_relabel_configs drop a label',
    scrape: () => relabel({ regex: 'upstream', action: 'labeldrop' }),
    says: /failure: Prometheus lacks what the rules read: label upstream\./,
    cure: /Remove from metric_relabel_configs what drops it/,
  },
  {
    broken: 'a label of the target hides that of the exporter',
    scrape: ({ exporter }) => ({ static_configs: [{ targets: [exporter], labels: { station: 'x' } }] }),
    says: /warning: Labels of the target hide those of the exporter, which became exported_station/,
    cure: /Give these labels of the target other names/,
  },
  {
    broken: 'honor_labels replaces a label of the target',
    scrape: ({ exporter }) => ({
      honor_labels: true,
      static_configs: [{ targets: [exporter], labels: { upstream: 'x' } }],
    }),
    says: /warning: honor_labels of job \S+ replaces upstream/,
    cure: /Give these labels of the target other names/,
  },
  {
    broken: 'a configured station is not scraped',
    stations: ['a', 'b', 'of another shard'],
    says: /warning: Prometheus has no telemetry_station_up of of another shard/,
    cure: /Have all shards scraped/,
  },
  {
    broken: 'each replica of Prometheus sends alerts of its own',
    prometheus: () => ({ global: { scrape_interval: '1s', external_labels: { replica: 'a' } } }),
    says: /warning: Alerts have the external label replica/,
    cure: /labeldrop, regex: replica/,
  },
  {
    broken: 'Prometheus knows no Alertmanager',
    prometheus: () => ({ alerting: {} }),
    says: /failure: Prometheus sends alerts to no Alertmanager/,
    cure: /Add it to alerting.alertmanagers/,
  },
  {
    broken: 'Prometheus cannot reach Alertmanager',
    prometheus: ({ closed }) => ({ alerting: { alertmanagers: [{ static_configs: [{ targets: [closed] }] }] } }),
    rules: (rules) =>
      stringify({
        groups: [...parse(rules).groups, { name: 'on', interval: '1s', rules: [{ alert: 'On', expr: 'vector(1)' }] }],
      }),
    says: /failure: Every alert that was sent to http\S+ failed/,
    cure: /Check its address/,
  },
  {
    broken: 'an earlier route takes critical alerts to nobody',
    alertmanager: ({ route, receivers, ...rest }) => ({
      ...rest,
      route: { ...(route as object), routes: [{ receiver: 'nobody', matchers: ['alertname=~"Telemetry.*"'] }] },
      receivers: [...(receivers as object[]), { name: 'nobody' }],
    }),
    says: /failure: Critical alerts reach nobody, because the receiver has no integration: .*UpstreamDown ends at nobody/,
    cure: /Add an integration to it, or a route for severity = critical/,
  },
  {
    broken: 'no receiver has an integration',
    alertmanager: ({ receivers, ...rest }) => ({
      ...rest,
      receivers: (receivers as { name: string }[]).map(({ name }) => ({ name })),
    }),
    says: /warning: No receiver has an integration/,
    cure: /Add one to each receiver/,
  },
  {
    broken: 'the inhibitions were not copied',
    alertmanager: ({ inhibit_rules: _, ...rest }) => rest,
    says: /warning: One cause is notified several times: .*UpstreamDown does not inhibit TelemetryStationDataStale/,
    cure: /Copy inhibit_rules from prometheus\/alertmanager.yml/,
  },
  {
    broken: 'an inhibition goes by a label that only one alert has',
    alertmanager: ({ inhibit_rules, ...rest }) => ({
      ...rest,
      inhibit_rules: (inhibit_rules as object[]).map((rule, at) => (at === 5 ? { ...rule, equal: ['unit'] } : rule)),
    }),
    says: /warning: One cause .*ResourcesLost does not inhibit TelemetryStationCapacityDropped[\s\S]*Rules that never match, .*: inhibit_rules\[5\]\./,
    cure: /Copy inhibit_rules from prometheus\/alertmanager.yml/,
  },
];

const STATIONS = ['a', 'b'];

let service: SimulatedService;
let slowService: SimulatedService;
let exporters: Awaited<ReturnType<typeof startExporter>>[];
let alertmanager: Awaited<ReturnType<typeof startAlertmanagerWith>>;
let closed: string;
let bytes: number;

const exporterConfig = (url: string, stations: readonly string[] = STATIONS) =>
  configOf(url, [...stations], { cache: { ttl: '1s' } });

const integrated = parse(
  readFileSync(new URL('../../../prometheus/alertmanager.yml', import.meta.url), 'utf8').replace(
    /- name: (\w+)/g,
    '- { name: $1, webhook_configs: [{ url: "http://127.0.0.1:9/" }] }',
  ),
) as Config;

beforeAll(async () => {
  service = await startSimulatedService({ source: () => entriesOf(25) });
  slowService = await startSimulatedService({ source: () => entriesOf(25), faults: { '*': [slow(1500)] } });
  exporters = [await startExporter(exporterConfig(service.url)), await startExporter(exporterConfig(slowService.url))];
  alertmanager = await startAlertmanagerWith(stringify(integrated));
  closed = `127.0.0.1:${await closedPort()}`;
  bytes = (await (await fetch(`${exporters[0]?.url}/metrics`)).text()).length;
});

afterAll(async () => {
  for (const chain of started.values()) await (await chain).stop();
  await alertmanager?.stop();
  for (const exporter of exporters ?? []) await exporter.stop();
  await service?.stop();
  await slowService?.stop();
});

/** Starts the chain. */
async function startChain(world: Partial<World>) {
  const exporter = new URL((exporters[world.isSlow ? 1 : 0] as (typeof exporters)[number]).url).host;
  const own = world.alertmanager && (await startAlertmanagerWith(stringify(world.alertmanager(integrated))));
  const { url } = own ?? alertmanager;
  const place = { exporter, alertmanager: new URL(url).host, closed, bytes };
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [place.alertmanager] }] }] },
    scrape_configs: [{ job_name: JOB, static_configs: [{ targets: [exporter] }], ...world.scrape?.(place) }],
    ...world.prometheus?.(place),
  };
  const rules = rulesFile().replaceAll('interval: 30s', 'interval: 1s');
  const prometheus = await startPrometheus(stringify(config), {
    files: { 'rules.yml': world.rules?.(rules) ?? rules },
    flags: ['--rules.alert.resend-delay=1s'],
  });
  const flags = [`--prometheus.url=${prometheus.url}`, `--alertmanager.url=${url}`];
  const { url: serviceUrl } = world.isSlow ? slowService : service;
  return {
    check: () => resultOf(['check', configFlag(exporterConfig(serviceUrl, world.stations)), ...flags]),
    stop: async () => {
      await prometheus.stop();
      await own?.stop();
    },
  };
}

type Chain = Awaited<ReturnType<typeof startChain>>;

const HEALTHY: Partial<World> = {};
const ADJUSTED: Partial<World> = {
  prometheus: ({ alertmanager: target }) => ({
    global: { scrape_interval: '1s', evaluation_interval: '1s', external_labels: { k8s_cluster: 'e', replica: 'a' } },
    alerting: {
      alert_relabel_configs: [{ action: 'labeldrop', regex: 'replica' }],
      alertmanagers: [{ static_configs: [{ targets: [target] }] }],
    },
  }),
  rules: (shipped) =>
    shipped
      .replaceAll(`job="${JOB}"`, `job="${JOB}",station!~"lab-.*"`)
      .replace(/\bcluster\b/g, 'k8s_cluster')
      .replace('> 480', '> 7200')
      .replace('for: 12m', 'for: 1h'),
};

const IN_ORDER = [HEALTHY, ADJUSTED, ...WORLDS];
const started = new Map<Partial<World>, Promise<Chain>>();

/** Prometheus scrapes nothing in its first five seconds: the next chains start meanwhile. */
const AHEAD = 6;

/** Until the test finishes. */
async function chainOf(world: Partial<World>): Promise<Chain> {
  const at = IN_ORDER.indexOf(world);
  for (const next of IN_ORDER.slice(at, at + AHEAD)) if (!started.has(next)) started.set(next, startChain(next));
  const chain = await (started.get(world) as Promise<Chain>);
  onTestFinished(async () => {
    started.delete(world);
    await chain.stop();
  });
  return chain;
}

/** The report that contains the text or matches. */
async function reportOf({ check }: Chain, expected: string | RegExp) {
  let report = await check();
  const again = async () => {
    report = await check();
    return report.stdout;
  };
  await expect.poll(again).toMatch(expected);
  return report;
}

const COMPLETE = 'alerting chain: complete, no problem found';

describe('check --prometheus.url --alertmanager.url', () => {
  it('finds no problem in a chain as the shipped files set it up', async () => {
    const { code, stdout } = await reportOf(await chainOf(HEALTHY), COMPLETE);
    expect(code).toBe(0);
    expect(stdout).toContain('ok: rules: 39 of 39 are loaded\n');
    expect(stdout).toMatch(/TelemetryStationUpstreamDown +critical +all +pager +cluster, job, alertname +every 4h/);
  });

  it('accepts rules as mixin and chart generate them, and replicas of Prometheus whose label alerts do not have', async () => {
    const { stdout } = await reportOf(await chainOf(ADJUSTED), COMPLETE);
    const adjusted =
      'adjusted: TelemetryStationDataStale 480 → 7200, TelemetryStationDataStale for 12m → 1h, only station!~"lab-.*"';
    expect(stdout).toContain(`rules: 39 of 39 are loaded; ${adjusted}`);
    expect(stdout).toContain('ok: label k8s_cluster: e\n');
  });

  it.each(WORLDS)('names the cause and the cure when $broken', async (world) => {
    const { code, stdout } = await reportOf(await chainOf(world), world.says);
    expect(stdout.slice(stdout.search(world.says))).toMatch(world.cure);
    expect(code).toBe(stdout.includes('\nfailure: ') ? 1 : 0);
  });
});
