import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { MetricName } from '../../../prometheus/promql/metric.ts';
import { startPrometheus } from './prometheus.ts';
import {
  HISTORY_S,
  type Labels,
  NOW_S,
  type Recorder,
  recordExporter,
  recordStation,
  series,
  type Value,
} from './world-series.ts';

const INTERVAL_S = 60;

/** By the value of the variable `job`; `empty` has no series at all. */
export type WorldName = 'healthy' | 'failing' | 'large' | 'empty';

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
  recordHealthy(recorder);
  recordFailing(recorder);
  recordLarge(recorder);
  for (const [name, value] of samples) {
    for (let ago = HISTORY_S; ago >= 0; ago -= INTERVAL_S) {
      const sample = typeof value === 'number' ? value : value(ago);
      if (sample !== undefined) yield `${name} ${sample === Number.POSITIVE_INFINITY ? '+Inf' : sample} ${NOW_S - ago}`;
    }
  }
}

type Target = (labels: { readonly job: WorldName; readonly instance: string; readonly pod?: string }) => Recorder;

function recordHealthy(target: Target): void {
  const exporter = target({ job: 'healthy', instance: 'a' });
  recordExporter(exporter, {});
  for (const name of ['east', 'west'])
    recordStation(exporter, { name, types: 3, products: 1, firing: 0, withoutRules: 0 });
}

function recordFailing(target: Target): void {
  // Two shards of three, one of them with a further label, as Kubernetes adds.
  const first = target({ job: 'failing', instance: 'a', pod: 'exporter-0' });
  recordExporter(first, { totalShards: 3, reloaded: 0, scrapeSeconds: 9.5, rateLimit: 4.2, waiting: 300 });
  recordStation(first, {
    name: 'old',
    types: 2,
    products: 1,
    firing: 30,
    withoutRules: 40,
    failing: 'auth',
    ageS: 1200,
  });
  recordStation(first, { name: 'partial', types: 2, products: 1, firing: 0, withoutRules: 0, complete: 0 });
  first.add('telemetry_station_up', { station: 'never' }, 0);
  // Its last scrapes timed out.
  const second = target({ job: 'failing', instance: 'b', pod: 'exporter-1' });
  recordExporter(second, { totalShards: 3, ordinal: 1, downSinceS: 600 });
  for (const [alertname, alertstate, severity, labels] of ALERTS) {
    first.add('ALERTS', { alertname, alertstate, severity, ...labels }, 1);
    first.add('ALERTS_FOR_STATE', { alertname, severity, ...labels }, NOW_S - 900);
  }
  first.add(
    'telemetry_station_resource_info',
    { ...FIRING_RESOURCE, display_name: 'Web (1)', resource_type: 'resource_type.t0' },
    1,
  );
  first.add('telemetry_station_resource_state', { ...FIRING_RESOURCE, state: 'ALERTSTATE_FIRING' }, 1);
  first.add('telemetry_station_resource_alert_rules', FIRING_RESOURCE, 2);
  first.add(
    'telemetry_station_resource_info',
    { ...OTHER_RESOURCE, display_name: '', resource_type: 'resource_type.t1' },
    1,
  );
  first.add('telemetry_station_resource_state', { ...OTHER_RESOURCE, state: 'ALERTSTATE_INACTIVE' }, 1);
}

export const FIRING_RESOURCE = { station: 'old', resource_id: 'id-firing', name: 'web-1' };
const OTHER_RESOURCE = { station: 'old', resource_id: 'id-other', name: 'web-2' };

const ALERTS = [
  ['TelemetryStationDown', 'firing', 'warning', { station: 'old' }],
  [
    'TelemetryStationResourceFiring',
    'firing',
    'warning',
    { ...FIRING_RESOURCE, display_name: 'Web (1)', resource_type: 'resource_type.t0' },
  ],
  ['TelemetryStationOverloaded', 'pending', 'warning', { upstream: 'main' }],
] as const;

/** 100,000 resources in 20 types, 5 products and 3 states; of each state 1 in 100 fires. */
export const LARGE = { resources: 100_000, types: 20, products: 5 };

function recordLarge(target: Target): void {
  const exporter = target({ job: 'large', instance: 'a' });
  recordExporter(exporter, {});
  recordStation(exporter, {
    name: 'large',
    types: LARGE.types,
    products: LARGE.products,
    firing: LARGE.resources / 100,
    withoutRules: 5_000,
    total: LARGE.resources,
  });
}

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
      { ...identity, state: Math.floor(index / 100) % 100 === 0 ? 'ALERTSTATE_FIRING' : 'ALERTSTATE_INACTIVE' },
      1,
    );
    yield line('telemetry_station_resource_alert_rules', identity, index % 20 === 0 ? 0 : 1);
    yield line('telemetry_station_resource_created_timestamp_seconds', identity, NOW_S - index);
    yield line('telemetry_station_resource_sku_quantity', { ...identity, unit: 'GPU' }, 8);
  }
}
