import { monitorEventLoopDelay } from 'node:perf_hooks';
import { stringify } from 'yaml';
import { Exporter } from '../src/app/exporter.ts';
import { loadConfig } from '../src/config/load.ts';
import { createLogger } from '../src/journal/logger.ts';
import { OPEN_ACCESS } from '../src/web/access/rules.ts';
import { createApp } from '../src/web/app.ts';
import { listen } from '../src/web/server.ts';
import { processStats, serveMethods } from './child.ts';

export interface ExporterMethods {
  start(options: {
    servicePort: number;
    stations: string[];
    ttl: string;
    /** The default unless given. */
    errorTtl?: string;
    pageSize: number;
    concurrency: number;
    /** Entries of the configuration. */
    resourceLabels: object[];
    /** Of every station: none unless given. */
    products?: string[];
  }): number;
  cpu(): number;
  memory(): number;
  resident(): number;
  /** Maximum event-loop delay since the last call in milliseconds. */
  maxLoopDelay(): number;
}

const loop = monitorEventLoopDelay({ resolution: 1 });

serveMethods({
  ...processStats,
  start: async (options: Parameters<ExporterMethods['start']>[0]) => {
    const { servicePort, stations, ttl, errorTtl = '10s', pageSize, concurrency } = options;
    const { resourceLabels, products = [] } = options;
    const text = stringify({
      upstreams: {
        main: {
          base_url: `http://127.0.0.1:${servicePort}`,
          page_size: pageSize,
          max_page_bytes: '64MiB',
          concurrency,
          timeout: '60s',
          refresh_timeout: '10m',
        },
      },
      stations: stations.map((name) => ({
        subscription: 's',
        resource_group: 'g',
        zone: 'z',
        telemetry_station: name,
        products,
      })),
      cache: { ttl, max_stale: '1h', error_ttl: errorTtl },
      resource_labels: resourceLabels,
    });
    const load = () => loadConfig({ file: 'bench.yaml', text, env: {} });
    const loaded = await load();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const log = createLogger({ level: 'warn', format: 'logfmt', write: (line) => process.stderr.write(line) });
    const build = { version: 'bench', revision: 'bench', nodeVersion: process.version };
    const exporter = new Exporter(loaded, {
      load,
      build,
      shard: { ordinal: 0, total: 1 },
      log,
      processMetrics: true,
    });
    await exporter.start();
    const limits = { maxRequests: 0, scrapeTimeoutMs: 600_000, timeoutOffsetMs: 500 };
    const webOptions = { telemetryPath: '/metrics', enableLifecycle: false, ...limits };
    const server = await listen(
      createApp(exporter, {
        ...webOptions,
        version: 'bench',
        access: () => OPEN_ACCESS,
        observer: exporter.webObserver(),
        now: Date.now,
        report: (error) => log.error('bug', { error }),
      }),
      [{ host: '127.0.0.1', port: 0 }],
    );
    return server.addresses[0]?.port;
  },
  maxLoopDelay: () => {
    const maximum = loop.max / 1e6;
    loop.disable();
    loop.reset();
    loop.enable();
    return maximum;
  },
});
