import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { Exporter } from '../../src/app/exporter.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/journal/logger.ts';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { createApp } from '../../src/web/app.ts';
import type { WebOptions } from '../../src/web/port.ts';
import { listen } from '../../src/web/server.ts';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { type ServiceOptions, type SimulatedService, startSimulatedService } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';

/** An exporter on a free port, unless one is given, with access to its log and its configuration. */
export async function startExporter(
  config: object,
  options: Partial<WebOptions> & {
    env?: Record<string, string>;
    processMetrics?: boolean;
    logChanges?: boolean;
    port?: number;
  } = {},
) {
  const log: string[] = [];
  let text = stringify(config);
  const load = () => loadConfig({ file: 'config.yaml', text, env: options.env ?? {} });
  const loaded = await load();
  if (!loaded.ok) throw new Error(loaded.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  const exporter = new Exporter(loaded, {
    load,
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    shard: { ordinal: 0, total: 1 },
    log: createLogger({ level: 'debug', format: 'logfmt', write: (line) => log.push(line) }),
    processMetrics: options.processMetrics ?? false,
    logChanges: options.logChanges ?? false,
  });
  await exporter.start();
  const observer = exporter.webObserver();
  const app = createApp(exporter, {
    telemetryPath: '/metrics',
    enableLifecycle: true,
    maxRequests: 0,
    scrapeTimeoutMs: 600_000,
    timeoutOffsetMs: 500,
    version: '0.0.0',
    access: () => OPEN_ACCESS,
    observer,
    now: Date.now,
    report: (error) => log.push(String(error)),
    ...options,
  });
  const server = await listen(app, [{ host: '127.0.0.1', port: options.port ?? 0 }], { observer });
  const url = `http://127.0.0.1:${server.addresses[0]?.port}`;
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, url), { headers });
  return {
    exporter,
    url,
    log,
    get,
    /** Parsed; throws unless the status is 200. */
    scrape: async (path = '/metrics', headers: Record<string, string> = {}) => {
      const response = await get(path, headers);
      if (response.status !== 200) throw new Error(`${path}: expected status 200, got ${response.status}`);
      return parseExposition(await response.text());
    },
    rewrite: (changed: object) => {
      text = stringify(changed);
    },
    stop: async () => {
      await exporter.close();
      await server.close(0);
    },
  };
}

export type RunningExporter = Awaited<ReturnType<typeof startExporter>>;

/** The simulated service, stopped when the test finishes. */
export async function startTestService(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = await startSimulatedService(options);
  onTestFinished(() => service.stop());
  return service;
}

/** An exporter, stopped when the test finishes. */
export async function startTestExporter(
  ...[config, options]: Parameters<typeof startExporter>
): Promise<RunningExporter> {
  const exporter = await startExporter(config, options);
  onTestFinished(() => exporter.stop());
  return exporter;
}

/** An exporter after its first refreshes, so that the test causes every further request. */
export async function startReadyExporter(
  ...[config, options]: Parameters<typeof startExporter>
): Promise<RunningExporter> {
  const exporter = await startTestExporter(config, options);
  await eventually(async () => {
    const { status } = await exporter.get('/-/ready');
    if (status !== 200) throw new Error('not ready');
  });
  return exporter;
}

/** A record as the service sends it. */
export function wireRecord(id: string, changes: object = {}) {
  return {
    resource_type: { key: 'resource_type.compute.x', label: 'Compute' },
    resource_id: id,
    create_time: '2024-05-01T12:00:00.000Z',
    sku: '2 GPU',
    state: 'ALERTSTATE_INACTIVE',
    display_name: `Display ${id}`,
    alert_rules_count: 1,
    name: `name-${id}`,
    gpu_model: 'N4lS',
    ...changes,
  };
}

export const entriesOf = (count: number, prefix = 'r'): SourceEntry[] =>
  Array.from({ length: count }, (_, index) => ({ record: wireRecord(`${prefix}${index}`) }));

/** A configuration of one upstream and of stations, by the names of their telemetry stations. */
export function configOf(
  url: string,
  stations: readonly string[],
  changes: { upstream?: object; station?: object; cache?: object; metrics?: object; labels?: readonly object[] } = {},
) {
  // On a busy machine, too, a request only times out where a test sets a timeout.
  const timeouts = { timeout: '5m', refresh_timeout: '5m' };
  return {
    upstreams: { main: { base_url: url, page_size: 10, max_retries: 0, ...timeouts, ...changes.upstream } },
    stations: stations.map((name) => ({
      subscription: 'sub',
      resource_group: 'rg',
      zone: 'z1',
      telemetry_station: name,
      ...changes.station,
    })),
    cache: { ttl: '0s', error_ttl: '0s', ...changes.cache },
    ...(changes.metrics && { metrics: changes.metrics }),
    ...(changes.labels && { resource_labels: changes.labels }),
  };
}

const pick = (choices: readonly unknown[], index: number) => choices[index % choices.length];

/** Entries with various values in every field that metrics depend on. */
export function variedEntries(count: number): (SourceEntry & { readonly record: ReturnType<typeof wireRecord> })[] {
  return Array.from({ length: count }, (_, index) => ({
    record: wireRecord(`r${index}`, {
      resource_type: { key: `resource_type.kind.${index % 3}`, label: `Kind ${index % 3}` },
      create_time: `2024-05-01T12:00:${String(index % 60).padStart(2, '0')}.500Z`,
      sku: pick(['2 GPU', '1.5 TiB', 'large', ''], index),
      state: pick(['ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING'], index),
      alert_rules_count: index % 4,
      gpu_model: pick(['N4lS', ''], index),
    }),
    product: `product.${index % 2 === 0 ? 'even' : 'odd'}`,
    alertable: index % 5 !== 0,
  }));
}
