import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { runProgram } from '../../../src/program.ts';
import { type Demo, startDemo } from '../../../src/simulator/demo.ts';
import { demoStations } from '../../../src/simulator/stations.ts';
import { startAlertmanager } from './alertmanager.ts';
import { startPrometheus } from './prometheus.ts';

/** The world stands still, so that its numbers can be compared. */
export const NOW_MS = Date.UTC(2025, 0, 15, 12, 0, 0);

/** The station that can be made to fail and to heal: it alone is asked again all the time. */
export const RESTLESS = { station: 'staging', telemetryStation: 'ts-staging' };

/** What an operator runs: the exporter, Prometheus with the shipped configurations and rules, and Alertmanager; but faster. */
export async function startStack() {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const demo = await startDemo({ now: () => NOW_MS });
    stops.push(() => demo.service.stop());
    for (const { path } of demoStations) demo.service.setFaults(path.telemetryStation, []);
    const exporter = await startProgram(demo);
    stops.push(exporter.stop);
    const alertmanager = await startAlertmanager('TelemetryStationDown');
    stops.push(alertmanager.stop);
    const prometheus = await startPrometheus(await prometheusConfig(exporter.target, alertmanager.target), {
      files: { 'rules.yml': hurried(await shipped('rules.yml')) },
      flags: ['--enable-feature=extra-scrape-metrics', '--rules.alert.resend-delay=1s'],
    });
    stops.push(prometheus.stop);
    return { demo, prometheus, alertmanager, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
}

/** The shipped rules, with every wait cut to two seconds. */
function hurried(rules: string): string {
  const { groups } = parse(rules) as Rules;
  const faster = groups.map((group) => ({
    ...group,
    interval: '1s',
    rules: group.rules.map((rule) => (rule.alert === undefined ? rule : { ...rule, for: '2s' })),
  }));
  return stringify({ groups: faster });
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly relabel_configs?: readonly { readonly target_label: string }[];
}

/** Both shipped configurations in one: their targets are the exporter of the test, and the second one's jobs go by other names. */
async function prometheusConfig(exporter: string, alertmanager: string): Promise<string> {
  const here = (text: string) =>
    text.replaceAll('telemetry-station-exporter:9842', exporter).replaceAll('alertmanager:9093', alertmanager).replaceAll(': 1m', ': 3s');
  const one = parse(here(await shipped('prometheus.yml')));
  const other = parse(here(await shipped('prometheus-http-sd.yml'))) as { scrape_configs: ScrapeConfig[] };
  const renamed = other.scrape_configs.map((config) => ({
    ...config,
    job_name: `discovered-${config.job_name}`,
    relabel_configs: [...(config.relabel_configs ?? []), { target_label: 'job', replacement: 'discovered' }],
  }));
  return stringify({
    ...one,
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    scrape_configs: [...one.scrape_configs, ...renamed],
  });
}

function shipped(file: string): Promise<string> {
  return readFile(new URL(`../../prometheus/${file}`, import.meta.url), 'utf8');
}

async function startProgram(demo: Demo) {
  const folder = await mkdtemp(join(tmpdir(), 'exporter-'));
  const file = join(folder, 'config.yaml');
  await writeFile(file, stringify(unhurriedConfig(demo.config)));
  const signals = new EventEmitter();
  const lines = new EventEmitter();
  const listening = once(lines, 'listening');
  const exit = runProgram({
    argv: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
    env: {},
    print: () => undefined,
    printError: (line) => {
      const [, port] = /msg=listening .*port=(\d+)/.exec(line) ?? [];
      if (port !== undefined) lines.emit('listening', port);
    },
    stdout: new PassThrough(),
    errorColumns: () => undefined,
    signals,
    hostName: 'exporter',
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
  });
  const [port] = await Promise.race([listening, exit.then((code) => Promise.reject(new Error(`the exporter ended with ${code}`)))]);
  const target = `127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`http://${target}/-/ready`)).status).toBe(200), { timeout: 40_000, interval: 100 });
  return {
    target,
    stop: async () => {
      signals.emit('SIGTERM');
      await exit;
      await rm(folder, { recursive: true });
    },
  };
}

interface ExporterConfig {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly stations: readonly { readonly name: string }[];
}

/** The demo's configuration, in which stations are asked once, but for the one that is watched. */
function unhurriedConfig(text: string): object {
  const config = parse(text) as ExporterConfig;
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [name, { ...upstream, max_retries: 0 }]);
  const stations = config.stations.map((station) => (station.name === RESTLESS.station ? { ...station, cache: { ttl: '1s' } } : station));
  return { upstreams: Object.fromEntries(upstreams), stations, cache: { ttl: '10m', max_stale: '10m', error_ttl: '1s' } };
}
