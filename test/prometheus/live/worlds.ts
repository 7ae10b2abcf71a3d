import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { MetricName } from '../../../prometheus/promql/metric.ts';
import { RECORDED } from '../../../prometheus/source/recording.ts';
import { startPrometheus } from './prometheus.ts';
import {
  HISTORY_S,
  type Labels,
  NOW_S,
  type Recorder,
  recordExporter,
  recordHealth,
  recordStation,
  series,
  since,
  until,
  type Value,
} from './world-series.ts';

const INTERVAL_S = 60;

/** By the value of the variable `job`, a regular expression; `empty` has no series at all. */
export const WORLDS = {
  demo: 'demo',
  'station-down': 'station-down',
  'exporter-down': 'exporter-down',
  'one-exporter-down': 'demo|exporter-down',
  unknown: 'unknown',
  'unknown-state': 'unknown-state',
  rejected: 'rejected',
  'two-jobs': 'two-jobs-.',
  'two-clusters': 'two-clusters',
  large: 'large',
  empty: 'empty',
} as const;

export type WorldName = keyof typeof WORLDS;

/** The worlds whose results the tests of test/grafana/display read. */
export const RECORDED_WORLDS = [
  'demo',
  'station-down',
  'exporter-down',
  'one-exporter-down',
  'unknown',
  'unknown-state',
  'rejected',
  'two-jobs',
  'two-clusters',
] as const satisfies readonly WorldName[];

/** Prometheus with six hours of data of all worlds, each in a job of its own. */
export async function startWorlds() {
  const folder = await mkdtemp(join(tmpdir(), 'worlds-'));
  const data = join(folder, 'data');
  await createBlocks(join(folder, 'history.txt'), data, historyLines());
  await createBlocks(join(folder, 'resources.txt'), data, resourceLines());
  const prometheus = await startPrometheus('', { data, flags: ['--storage.tsdb.retention.time=100y'] });
  return {
    ...prometheus,
    stop: async () => {
      await prometheus.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function createBlocks(file: string, data: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(chunks(lines)), createWriteStream(file));
  await promisify(execFile)('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, data], {
    maxBuffer: 2 ** 26,
  });
  await rm(file);
}

function* chunks(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length < 10_000) continue;
    yield `${chunk.join('\n')}\n`;
    chunk = [];
  }
  yield `${[...chunk, '# EOF'].join('\n')}\n`;
}

function* historyLines(): Generator<string> {
  const samples: [string, Value][] = [];
  const recorder = (target: object): Recorder => ({
    add: (name, labels, value, suffix) => samples.push([series(name, { ...target, ...labels }, suffix), value]),
  });
  recordDemo(recorder);
  recordStationDown(recorder);
  recordExporterDown(recorder);
  recordUnknown(recorder);
  recordUnknownState(recorder);
  recordRejected(recorder);
  recordTwoJobs(recorder);
  recordTwoClusters(recorder);
  recordLarge(recorder);
  for (const [name, value] of samples) {
    for (let ago = HISTORY_S; ago >= 0; ago -= INTERVAL_S) {
      const sample = typeof value === 'number' ? value : value(ago);
      if (sample !== undefined) yield `${name} ${sample === Number.POSITIVE_INFINITY ? '+Inf' : sample} ${NOW_S - ago}`;
    }
  }
}

type Target = (labels: {
  readonly job: string;
  readonly instance: string;
  readonly pod?: string;
  readonly cluster?: string;
}) => Recorder;

function recordDemo(target: Target): void {
  const exporter = target({ job: 'demo', instance: 'a' });
  recordExporter(exporter);
  recordStation(exporter, { name: 'east', team: 'storage' });
  // Without alertability and without rules.
  recordStation(exporter, { name: 'west', type: 'bucket', types: 1, withoutRules: 600, alertability: false });
  // The other station knows that its resources of this type are not alertable.
  const buckets = { station: 'east', resource_type: 'resource_type.bucket0', product: 'product.p0', team: 'storage' };
  exporter.add('telemetry_station_resources', { ...buckets, ...INACTIVE_STATE }, 40);
  exporter.add('telemetry_station_alertable_resources', buckets, 0);
  exporter.add('telemetry_station_resources_with_alert_rules', buckets, 0);
  exporter.add('telemetry_station_resources_without_alert_rules', buckets, 0);
}

/** Less than the ranges of queries, more than the time for which Prometheus returns the last sample of a series. */
const EXPORTER_DOWN_S = 600;

/** Its exporter refuses connections, which takes milliseconds. */
function recordExporterDown(target: Target): void {
  const exporter = target({ job: 'exporter-down', instance: 'b' });
  recordExporter(exporter, { downSinceS: EXPORTER_DOWN_S, failedScrapeSeconds: 0.007 });
  for (const name of ['north', 'south']) recordStation(until(EXPORTER_DOWN_S, exporter), { name, firing: 3 });
}

function recordUnknown(target: Target): void {
  const exporter = target({ job: 'unknown', instance: 'a' });
  recordExporter(exporter);
  for (const name of ['first', 'second']) recordHealth(exporter, name, 'network');
}

/** Some resources are in a state that the exporter has no meaning for, and none fires. */
function recordUnknownState(target: Target): void {
  const exporter = target({ job: 'unknown-state', instance: 'a' });
  recordExporter(exporter);
  recordStation(exporter, { name: 'escalated', types: 1, total: 40, escalated: 7 });
  recordStation(exporter, { name: 'fine', types: 1, total: 40 });
  const resource = { station: 'escalated', resource_id: FIRING_RESOURCE.resource_id, name: 'web' };
  exporter.add('telemetry_station_resource_info', { ...resource, resource_type: 'resource_type.t0' }, 1);
  const state = { state: 'ALERTSTATE_ESCALATED', alert_state: 'unknown' };
  exporter.add('telemetry_station_resource_state', { ...resource, ...state }, 1);
}

/** Listings that miss records without ids, alone and beside a total that is not reached. */
function recordRejected(target: Target): void {
  const exporter = target({ job: 'rejected', instance: 'a' });
  recordExporter(exporter);
  recordStation(exporter, { name: 'rejected', types: 1, total: 37, rejected: 3 });
  recordStation(exporter, { name: 'both', types: 1, total: 30, rejected: 3, complete: 0 });
}

/** One is throttled and keeps a rate limit; the other began to publish a station of the same name only later. */
function recordTwoJobs(target: Target): void {
  const first = target({ job: 'two-jobs-a', instance: 'two-jobs-a' });
  recordExporter(first, { rateLimit: 1.43 });
  for (const name of ['prod', 'two-jobs-a']) recordStation(first, { name, firing: 3 });
  const second = target({ job: 'two-jobs-b', instance: 'two-jobs-b' });
  recordExporter(second);
  for (const name of ['prod', 'two-jobs-b']) recordStation(since(3600, second), { name, firing: 3, total: 90 });
  for (const exporter of [first, second]) {
    const down = { alertname: 'TelemetryStationDown', severity: 'warning', station: 'prod' };
    exporter.add('ALERTS', { ...down, alertstate: 'pending' }, 1);
    exporter.add('ALERTS_FOR_STATE', down, NOW_S - 300);
  }
}

/** Job, target, station, types and resource have the same names in both; only one fires. */
function recordTwoClusters(target: Target): void {
  for (const { cluster, total, firing, withoutRules, alert } of TWO_CLUSTERS) {
    const exporter = target({ cluster, job: 'two-clusters', instance: 'exporter' });
    recordExporter(exporter);
    recordStation(exporter, { name: 'prod', types: 2, total, firing, withoutRules, team: 'storage' });
    const resource = { station: 'prod', resource_id: FIRING_RESOURCE.resource_id, name: 'web' };
    const info = { ...resource, display_name: `Web of ${cluster}`, resource_type: 'resource_type.t1' };
    exporter.add('telemetry_station_resource_info', info, 1);
    exporter.add('telemetry_station_resource_alert_rules', resource, firing > 0 ? 2 : 0);
    exporter.add('telemetry_station_resource_created_timestamp_seconds', resource, NOW_S - total);
    recordOldestWithoutRules(exporter, total);
    recordOptional(exporter, total);
    // Within the time range: Prometheus 3 excludes a sample at its beginning, Prometheus 2 does not.
    since(7200, exporter).add(
      'telemetry_station_resource_state',
      { ...resource, ...(firing > 0 ? FIRING_STATE : INACTIVE_STATE) },
      1,
    );
    exporter.add('ALERTS', { alertname: alert, alertstate: 'firing', severity: 'critical', station: 'prod' }, 1);
    exporter.add('ALERTS_FOR_STATE', { alertname: alert, severity: 'critical', station: 'prod' }, NOW_S - total);
  }
}

/** As the recording rule does. */
function recordOldestWithoutRules({ add }: Recorder, ageS: number): void {
  const labels: object = { station: 'prod', team: 'storage' };
  add(RECORDED.oldestWithoutRules as MetricName, labels, NOW_S - ageS);
}

/** As the recording rules do that values of the Helm chart add. */
function recordOptional({ add }: Recorder, listed: number): void {
  const record = (name: string, labels: object, value: number) =>
    add(name as MetricName, { station: 'prod', ...labels }, value);
  const gpus = { gpu_model: 'H800', unit: 'GPU' };
  record(RECORDED.capacity, gpus, 128);
  record(RECORDED.expected, gpus, 138);
  record(RECORDED.expected, { unit: 'GiB' }, 64);
  record(RECORDED.cost, { team: 'storage' }, listed / 4);
  record(RECORDED.notMonitored, { resource_type: 'resource_type.t1', team: 'storage' }, listed / 30);
}

const TWO_CLUSTERS = [
  { cluster: 'east', total: 600, firing: 60, withoutRules: 6, alert: 'TelemetryStationManyResourcesFiring' },
  { cluster: 'west', total: 90, firing: 0, withoutRules: 30, alert: 'TelemetryStationResourcesLost' },
];

function recordStationDown(target: Target): void {
  // Two shards of three, one of them with a further label, as Kubernetes adds.
  const first = target({ job: 'station-down', instance: 'a', pod: 'exporter-0' });
  recordExporter(first, { totalShards: 3, reloaded: 0, scrapeSeconds: 9.5, rateLimit: 4.2, waiting: 300 });
  const alerting = { firing: 30, pending: 10, withoutRules: 40 };
  recordStation(first, { name: 'old', types: 2, ...alerting, failing: 'auth', ageS: 1200 });
  // Of its resources of one type, 30 have no rules and the others are unknown; nothing is known of the other type.
  const unknown = { withoutRules: 60, unknownCoverage: 540, type: 'partial', silentTypes: 1 };
  recordStation(first, { name: 'partial', types: 2, complete: 0, rejected: 2, ...unknown });
  recordHealth(first, 'never', 'network');
  // Its last scrapes timed out.
  const second = target({ job: 'station-down', instance: 'b', pod: 'exporter-1' });
  recordExporter(second, { totalShards: 3, ordinal: 1, downSinceS: 600 });
  for (const { since, alertstate, ...labels } of ALERTS) {
    first.add('ALERTS', { alertstate, ...labels }, 1);
    first.add('ALERTS_FOR_STATE', labels, NOW_S - since);
  }
  for (const [index, state] of [...Array(8).fill('INACTIVE'), 'PENDING', 'FIRING'].entries()) {
    const resource =
      state === 'FIRING' ? FIRING_RESOURCE : { station: 'old', resource_id: `id-${index}`, name: `web-${index}` };
    const labels = { display_name: state === 'FIRING' ? 'Web (1)' : '', resource_type: 'resource_type.t0' };
    first.add('telemetry_station_resource_info', { ...resource, ...labels, product: 'product.p0' }, 1);
    first.add(
      'telemetry_station_resource_state',
      { ...resource, state: `ALERTSTATE_${state}`, alert_state: state.toLowerCase() },
      1,
    );
    first.add('telemetry_station_resource_alert_rules', resource, 2);
  }
}

export const FIRING_RESOURCE = { station: 'old', resource_id: 'id-firing', name: 'web-firing' };

interface Alert {
  readonly alertname: string;
  readonly alertstate: 'firing' | 'pending';
  readonly severity: string;
  readonly station?: string;
  readonly upstream?: string;
  readonly resource_id?: string;
  /** Seconds before now. */
  readonly since: number;
}

const resourceAlert = (resource: number, alertstate: 'firing' | 'pending', since: number): Alert => ({
  alertname: 'TelemetryStationResourceFiring',
  alertstate,
  severity: 'warning',
  station: 'old',
  resource_id: resource === 0 ? FIRING_RESOURCE.resource_id : `id-alert-${resource}`,
  since,
});

/** The newest ones matter least. */
const ALERTS: readonly Alert[] = [
  { alertname: 'TelemetryStationDown', alertstate: 'firing', severity: 'warning', station: 'old', since: 5400 },
  { alertname: 'TelemetryStationDataStale', alertstate: 'firing', severity: 'critical', station: 'old', since: 7200 },
  { alertname: 'TelemetryStationDataStale', alertstate: 'pending', severity: 'critical', station: 'never', since: 200 },
  { alertname: 'TelemetryStationOverloaded', alertstate: 'pending', severity: 'warning', upstream: 'main', since: 300 },
  // No station of this world uses this upstream.
  {
    alertname: 'TelemetryStationApiThrottled',
    alertstate: 'firing',
    severity: 'warning',
    upstream: 'other',
    since: 250,
  },
  ...Array.from({ length: 26 }, (_, index) => resourceAlert(index, 'firing', 900 + index)),
  ...Array.from({ length: 9 }, (_, index) => resourceAlert(100 + index, 'pending', 60 + index)),
];

/** 100,000 resources in 20 types, 5 products and 3 states; of each state 1 in 100 fires. */
export const LARGE = { resources: 100_000, types: 20, products: 5 };

function recordLarge(target: Target): void {
  const exporter = target({ job: 'large', instance: 'a' });
  recordExporter(exporter);
  recordStation(exporter, {
    name: 'large',
    types: LARGE.types,
    products: LARGE.products,
    firing: LARGE.resources / 100,
    withoutRules: 5_000,
    total: LARGE.resources,
  });
}

const FIRING_STATE = { state: 'ALERTSTATE_FIRING', alert_state: 'firing' };
const INACTIVE_STATE = { state: 'ALERTSTATE_INACTIVE', alert_state: 'inactive' };

/** The per-resource series of the large world, as of the last scrape. */
function* resourceLines(): Generator<string> {
  const target = { job: 'large', instance: 'a', station: 'large' };
  const line = <Name extends MetricName>(name: Name, labels: Labels<Name>, value: number) =>
    `${series(name, { ...target, ...labels })} ${value} ${NOW_S}`;
  for (let index = 0; index < LARGE.resources; index++) {
    const group = index % (LARGE.types * LARGE.products);
    const identity = { resource_id: `id-${index}`, name: `resource-${index}` };
    const info = {
      ...identity,
      display_name: `Resource ${index}`,
      resource_type: `resource_type.t${group % LARGE.types}`,
      product: `product.p${Math.floor(group / LARGE.types)}`,
      sku: '8 GPU',
      gpu_model: 'H800',
      alertable: 'true',
    };
    yield line('telemetry_station_resource_info', info, 1);
    yield line(
      'telemetry_station_resource_state',
      { ...identity, ...(Math.floor(index / 100) % 100 === 0 ? FIRING_STATE : INACTIVE_STATE) },
      1,
    );
    yield line('telemetry_station_resource_alert_rules', identity, index % 20 === 0 ? 0 : 1);
    yield line('telemetry_station_resource_created_timestamp_seconds', identity, NOW_S - index);
    yield line('telemetry_station_resource_sku_quantity', { ...identity, unit: 'GPU' }, 8);
  }
}
