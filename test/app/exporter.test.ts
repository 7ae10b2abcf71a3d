import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { Exporter, type ExporterOptions } from '../../src/app/exporter.ts';
import { createLogger } from '../../src/app/logger.ts';
import { type LoadResult, loadConfig } from '../../src/config/load.ts';
import { startSimulatedService } from '../../src/simulator/service.ts';
import { configOf, entriesOf } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

const namesOf = (exporter: Exporter) => exporter.specs().map(({ name }) => name);

const OPTIONS = {
  build: { version: '1', revision: 'r', nodeVersion: 'v' },
  shard: { ordinal: 0, total: 1 },
  log: createLogger({ level: 'error', format: 'logfmt', write: () => undefined }),
  processMetrics: false,
};

describe('Exporter.configuration', () => {
  it('is rendered once per generation', async () => {
    const load = (station: string) => {
      const loaded = loadConfig({
        file: 'config.yaml',
        text: stringify(configOf('http://127.0.0.1:1', [station])),
        env: {},
      });
      return loaded.ok ? loaded : expect.unreachable();
    };
    let reads = 0;
    const first = load('first');
    const config = new Proxy(first.config, {
      get: (target, key, receiver) => {
        reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    const exporter = new Exporter(
      { ...first, config },
      {
        load: async () => load('second'),
        ...OPTIONS,
      },
    );
    onTestFinished(() => exporter.close());
    await exporter.start();
    expect(exporter.configuration()).toContain('telemetry_station: first\n');
    const readsOfOne = reads;
    expect(exporter.configuration()).toContain('telemetry_station: first\n');
    expect(reads).toBe(readsOfOne);
    await exporter.reload();
    expect(exporter.configuration()).toContain('telemetry_station: second\n');
  });
});

describe('Exporter.station', () => {
  it('is undefined of a station that is not configured', async () => {
    const loaded = loadConfig({
      file: 'config.yaml',
      text: stringify(configOf('http://127.0.0.1:1', ['a'])),
      env: {},
    });
    if (!loaded.ok) return expect.unreachable();
    const exporter = new Exporter(loaded, { load: async () => loaded, ...OPTIONS });
    expect(() => exporter.specs()).toThrow('the exporter has not started');
    await exporter.start();
    onTestFinished(() => exporter.close());
    expect([exporter.station('b'), exporter.history('b'), exporter.refresh('b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('Exporter.reload', () => {
  const valid = (stations: readonly string[]): LoadResult =>
    loadConfig({ file: 'config.yaml', text: stringify(configOf('http://127.0.0.1:1', stations)), env: {} });

  /** An exporter whose configuration is loaded when the test says so. */
  async function startExporter(options: Partial<ExporterOptions> = {}) {
    const first = valid(['a']);
    if (!first.ok) return expect.unreachable();
    const loads: { resolve: (result: LoadResult) => void; reject: (error: Error) => void }[] = [];
    const exporter = new Exporter(first, {
      load: () => new Promise((resolve, reject) => loads.push({ resolve, reject })),
      ...OPTIONS,
      ...options,
    });
    await exporter.start();
    onTestFinished(() => exporter.close());
    return { exporter, loads };
  }

  it('loads the configuration once more for all who request it while a reload runs', async () => {
    const { exporter, loads } = await startExporter();
    const running = exporter.reload();
    const waiting = Array.from({ length: 300 }, () => exporter.reload());
    await eventually(() => expect(loads).toHaveLength(1));
    loads[0]?.resolve(valid(['a', 'b']));
    expect(await running).toEqual([]);
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(valid(['a', 'b', 'a']));
    const problems = await Promise.all(waiting);
    expect(problems[0]).toEqual([expect.stringMatching(/^config\.yaml:\d+:\d+: stations\[2\]/)]);
    expect(new Set(problems)).toEqual(new Set([problems[0]]));
    expect(loads).toHaveLength(2);
    expect(namesOf(exporter)).toEqual(['a', 'b']);
  });

  it('runs the waiting reload after one that failed', async () => {
    const { exporter, loads } = await startExporter();
    const running = exporter.reload();
    const waiting = exporter.reload();
    await eventually(() => expect(loads).toHaveLength(1));
    loads[0]?.reject(new Error('a bug'));
    await expect(running).rejects.toThrow('a bug');
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(valid(['b']));
    expect(await waiting).toEqual([]);
    expect(namesOf(exporter)).toEqual(['b']);
  });

  it('abandons a running reload when the exporter closes', async () => {
    const { exporter, loads } = await startExporter();
    const reloads = [exporter.reload(), exporter.reload()];
    await eventually(() => expect(loads).toHaveLength(1));
    await exporter.close();
    loads[0]?.resolve(valid(['b']));
    expect(await Promise.all(reloads)).toEqual([['the exporter is shutting down'], ['the exporter is shutting down']]);
    expect(loads).toHaveLength(1);
    expect(namesOf(exporter)).toEqual(['a']);
  });

  it('logs every ten seconds that a reload is still running', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const lines: string[] = [];
    let nowMs = 0;
    const log = createLogger({ level: 'warn', format: 'logfmt', write: (line) => lines.push(line) });
    const { exporter, loads } = await startExporter({ log, elapsedMs: () => nowMs });
    const reload = exporter.reload();
    await eventually(() => expect(loads).toHaveLength(1));
    for (nowMs = 10_000; nowMs <= 20_000; nowMs += 10_000) vi.advanceTimersByTime(10_000);
    loads[0]?.resolve(valid(['a']));
    expect(await reload).toEqual([]);
    vi.advanceTimersByTime(60_000);
    const reloads = lines.map((line) => line.replace(/^.*msg=/, '')).filter((line) => line.includes('reload'));
    expect(reloads).toEqual([
      '"configuration reload is still running" duration_seconds=10\n',
      '"configuration reload is still running" duration_seconds=20\n',
    ]);
  });
});

describe('Exporter.start', () => {
  const exporterOf = (config: object, elapsedMs?: () => number) => {
    const loaded = loadConfig({ file: 'config.yaml', text: stringify(config), env: {} });
    if (!loaded.ok) return expect.unreachable();
    const exporter = new Exporter(loaded, {
      ...OPTIONS,
      load: async () => loaded,
      ...(elapsedMs && { elapsedMs }),
    });
    onTestFinished(() => exporter.close());
    return exporter;
  };

  it('lets other events be handled while thousands of stations are built and started', async () => {
    const names = Array.from({ length: 2000 }, (_, at) => `station-${at}`);
    const exporter = exporterOf(configOf('http://127.0.0.1:1', names));
    let iterations = 0;
    const count = () => {
      iterations += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await exporter.start();
    clearImmediate(counting);
    expect(iterations).toBeGreaterThanOrEqual(20);
    expect(exporter.specs()).toHaveLength(2000);
  });

  it('ends when the exporter is closed meanwhile', async () => {
    const exporter = exporterOf(configOf('http://127.0.0.1:1', ['a']));
    const starting = exporter.start();
    await exporter.close();
    await expect(starting).rejects.toThrow();
    expect(exporter.ready()).toBe(false);
  });

  it.each([
    ['always throttles', { kind: 'status', code: 429 }],
    ['hangs', { kind: 'hang' }],
  ] as const)(
    'is ready although 200 stations wait for an upstream that %s, beside healthy ones',
    async (_what, fault) => {
      const healthy = await startSimulatedService({ source: () => entriesOf(1) });
      const impeded = await startSimulatedService({ faults: { '*': [fault] } });
      onTestFinished(() => healthy.stop());
      onTestFinished(() => impeded.stop());
      const stationOf = (upstream: string, at: number) => ({
        upstream,
        rid: `/subscriptions/s/resourceGroups/g/zones/z/telemetryStations/${upstream}-${at}`,
      });
      const exporter = exporterOf(
        {
          upstreams: { healthy: { base_url: healthy.url }, impeded: { base_url: impeded.url, timeout: '100ms' } },
          stations: [
            ...Array.from({ length: 200 }, (_, at) => stationOf('impeded', at)),
            ...Array.from({ length: 5 }, (_, at) => stationOf('healthy', at)),
          ],
        },
        // Time stands still: the limit of a minute does not help.
        () => 0,
      );
      await exporter.start();
      await eventually(() => expect(exporter.ready()).toBe(true));
      expect(exporter.stations().filter(({ upstream, up }) => upstream === 'healthy' && up)).toHaveLength(5);
    },
  );

  it('is ready a minute after its creation, whatever its stations do', async () => {
    const service = await startSimulatedService({ faults: { '*': [{ kind: 'hang' }] } });
    onTestFinished(() => service.stop());
    let nowMs = 0;
    const exporter = exporterOf(configOf(service.url, ['a']), () => nowMs);
    await exporter.start();
    nowMs = 59_999;
    expect(exporter.ready()).toBe(false);
    nowMs = 60_000;
    expect(exporter.ready()).toBe(true);
  });
});
