import { stringify } from 'yaml';
import { Exporter } from '../../src/app/exporter.ts';
import { createLogger } from '../../src/app/logger.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import { createApp } from '../../src/web/app.ts';
import type { WebOptions } from '../../src/web/options.ts';
import { listen } from '../../src/web/server.ts';
import { parseExposition } from '../metrics/parse-exposition.ts';

/** An exporter as the program runs it, on a port of its own, with its log and its configuration in the test's hands. */
export async function startExporter(config: object, options: Partial<WebOptions> & { env?: Record<string, string> } = {}) {
  const log: string[] = [];
  let text = stringify(config);
  const load = async () => loadConfig({ file: 'config.yaml', text, env: options.env ?? {} });
  const loaded = await load();
  if (!loaded.ok) throw new Error(loaded.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  const exporter = await Exporter.start(loaded, {
    load,
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    shard: { ordinal: 0, total: 1 },
    log: createLogger({ level: 'debug', format: 'logfmt', write: (line) => log.push(line) }),
    processMetrics: false,
  });
  const app = createApp(exporter, {
    telemetryPath: '/metrics',
    enableLifecycle: true,
    maxRequests: 0,
    scrapeTimeoutMs: 10_000,
    timeoutOffsetMs: 500,
    version: '0.0.0',
    report: (error) => log.push(String(error)),
    ...options,
  });
  const server = await listen(app, [{ host: '127.0.0.1', port: 0 }]);
  const url = `http://127.0.0.1:${server.addresses[0]?.port}`;
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, url), { headers });
  return {
    exporter,
    url,
    log,
    get,
    /** One scrape, parsed; fails when the answer is not a 200. */
    scrape: async (path = '/metrics', headers: Record<string, string> = {}) => {
      const response = await get(path, headers);
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
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

/** The configuration of one upstream at the URL and of stations by their telemetry stations' names. */
export function configOf(
  url: string,
  stations: readonly string[],
  changes: { upstream?: object; station?: object; cache?: object; metrics?: object } = {},
) {
  return {
    upstreams: { main: { base_url: url, page_size: 10, max_retries: 0, ...changes.upstream } },
    stations: stations.map((name) => ({
      subscription: 'sub',
      resource_group: 'rg',
      zone: 'z1',
      telemetry_station: name,
      ...changes.station,
    })),
    cache: { ttl: '0s', error_ttl: '0s', ...changes.cache },
    ...(changes.metrics && { metrics: changes.metrics }),
  };
}
