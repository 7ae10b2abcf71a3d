import { monitorEventLoopDelay } from 'node:perf_hooks';
import { stringify } from 'yaml';
import { serveMethods } from '../../bench/child.ts';
import { Exporter } from '../../src/app/exporter.ts';
import { createLogger } from '../../src/app/logger.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createApp } from '../../src/web/app.ts';
import { listen } from '../../src/web/server.ts';

/** What the exporter holds while nobody asks it for anything. */
export interface ResourceUsage {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
  readonly timers: number;
  /** Handles of every kind. */
  readonly handles: number;
  /** Resources of the snapshots it holds, which the heap depends on. */
  readonly resources: number;
  /** Of the event loop since the last measurement. */
  readonly maxEventLoopDelayMs: number;
  /** Answers that failed by a fault of ours. */
  readonly bugs: number;
}

export interface ExporterMethods {
  start(config: object): number;
  /** How many stations have a snapshot. */
  listedStations(): number;
  resourceUsage(): ResourceUsage;
}

/** What a busy machine may need to hand over an answer that waited for its deadline. */
const TIMEOUT_OFFSET_MS = 1000;
let exporter: Exporter | undefined;
let bugs = 0;
const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();

serveMethods({
  start: async (config: object) => {
    const load = async () => loadConfig({ file: 'soak.yaml', text: stringify(config), env: {} });
    const loaded = await load();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const build = { version: 'soak', revision: 'soak', nodeVersion: process.version };
    // The failures are the service's and as wanted: only what is ours is told.
    const log = createLogger({ level: 'error', format: 'logfmt', write: (line) => process.stderr.write(line) });
    exporter = await Exporter.start(loaded, { load, build, shard: { ordinal: 0, total: 1 }, log, processMetrics: true });
    const report = (error: unknown) => {
      bugs += 1;
      log.error('bug', { error });
    };
    const limits = { maxRequests: 40, scrapeTimeoutMs: 10_000, timeoutOffsetMs: TIMEOUT_OFFSET_MS };
    const app = createApp(exporter, { telemetryPath: '/metrics', enableLifecycle: false, ...limits, version: 'soak', report });
    return (await listen(app, [{ host: '127.0.0.1', port: 0 }])).addresses[0]?.port;
  },
  listedStations: () => exporter?.stations().filter(({ snapshot }) => snapshot !== undefined).length,
  resourceUsage: async (): Promise<ResourceUsage> => {
    const longestTurnMs = loop.max / 1e6;
    for (let round = 0; round < 4; round += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    loop.reset();
    const { heapUsed, external, rss } = process.memoryUsage();
    const active = process.getActiveResourcesInfo();
    const count = (type: RegExp) => active.filter((name) => type.test(name)).length;
    const resources = (exporter?.stations() ?? []).reduce((sum, station) => sum + (station.snapshot?.resources ?? 0), 0);
    return {
      heapBytes: heapUsed,
      bufferBytes: external,
      residentBytes: rss,
      sockets: count(/^(TCPSocket|TLS)Wrap$/),
      timers: count(/^(Timeout|Immediate)$/),
      handles: active.length,
      resources,
      maxEventLoopDelayMs: longestTurnMs,
      bugs,
    };
  },
});
