import { stringify } from 'yaml';
import { processStats, serveMethods } from '../../bench/child.ts';
import { Exporter } from '../../src/app/exporter.ts';
import { createLogger, type LogFields } from '../../src/app/logger.ts';
import { loadConfig } from '../../src/config/load.ts';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { createApp } from '../../src/web/app.ts';
import { listen } from '../../src/web/server.ts';

export type ResourceUsage = Awaited<ReturnType<typeof resourceUsage>>;

export interface ExporterMethods {
  start(config: object, timeoutOffsetMs: number): number;
  /** Stations with a snapshot. */
  listedStations(): number;
  resourceUsage(): ResourceUsage;
}

let exporter: Exporter | undefined;
let internalErrors = 0;
let throttledOutages = 0;
const listedStations = () => (exporter?.stations() ?? []).filter(({ snapshot }) => snapshot !== undefined).length;

serveMethods({
  start: async (config: object, timeoutOffsetMs: number) => {
    const load = () => loadConfig({ file: 'soak.yaml', text: stringify(config), env: {} });
    const loaded = await load();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const build = { version: 'soak', revision: 'soak', nodeVersion: process.version };
    // Failures of the service are intended; only errors of the exporter are logged.
    const errors = createLogger({ level: 'error', format: 'logfmt', write: (line) => process.stderr.write(line) });
    const countOutages = (message: string, { reason, attempts = 1 }: LogFields = {}) => {
      const isFirst = message === 'refresh failed' && attempts === 1;
      if (isFirst && reason === 'rate_limited' && listedStations() === exporter?.stations().length)
        throttledOutages += 1;
    };
    const log = { ...errors, debug: countOutages, warn: countOutages };
    exporter = new Exporter(loaded, {
      load,
      build,
      shard: { ordinal: 0, total: 1 },
      log,
      processMetrics: true,
    });
    await exporter.start();
    const report = (error: unknown) => {
      internalErrors += 1;
      log.error('internal error', { error });
    };
    const limits = { maxRequests: 40, scrapeTimeoutMs: 10_000, timeoutOffsetMs };
    const app = createApp(exporter, {
      telemetryPath: '/metrics',
      enableLifecycle: false,
      ...limits,
      version: 'soak',
      access: () => OPEN_ACCESS,
      observer: exporter.webObserver(),
      now: Date.now,
      report,
    });
    return (await listen(app, [{ host: '127.0.0.1', port: 0 }])).addresses[0]?.port;
  },
  listedStations,
  resourceUsage,
});

/** Measured while the exporter is idle. */
async function resourceUsage() {
  const residentBytes = await processStats.memory();
  const { heapUsed, external } = process.memoryUsage();
  const active = process.getActiveResourcesInfo();
  const count = (type: RegExp) => active.filter((name) => type.test(name)).length;
  return {
    heapBytes: heapUsed,
    bufferBytes: external,
    residentBytes,
    sockets: count(/^(TCPSocket|TLS)Wrap$/),
    timers: count(/^(Timeout|Immediate)$/),
    /** Responses that failed with an internal error. */
    internalErrors,
    /** How often a station that was up, after all were listed, failed because of throttling. */
    throttledOutages,
  };
}
