import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { Exporter } from '../../src/app/exporter.ts';
import { createLogger } from '../../src/app/logger.ts';
import { type LoadResult, loadConfig } from '../../src/config/load.ts';
import { configOf } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

const namesOf = (exporter: Exporter) => exporter.specs().map(({ name }) => name);

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
    const exporter = await Exporter.start(
      { ...first, config },
      {
        load: async () => load('second'),
        build: { version: '1', revision: 'r', nodeVersion: 'v' },
        shard: { ordinal: 0, total: 1 },
        log: createLogger({ level: 'error', format: 'logfmt', write: () => undefined }),
        processMetrics: false,
      },
    );
    onTestFinished(() => exporter.close());
    expect(exporter.configuration()).toContain('telemetry_station: first\n');
    const readsOfOne = reads;
    expect(exporter.configuration()).toContain('telemetry_station: first\n');
    expect(reads).toBe(readsOfOne);
    await exporter.reload();
    expect(exporter.configuration()).toContain('telemetry_station: second\n');
  });
});

describe('Exporter.reload', () => {
  const valid = (stations: readonly string[]): LoadResult =>
    loadConfig({ file: 'config.yaml', text: stringify(configOf('http://127.0.0.1:1', stations)), env: {} });

  /** An exporter whose configuration is loaded when the test says so. */
  async function startExporter() {
    const first = valid(['a']);
    if (!first.ok) return expect.unreachable();
    const loads: { resolve: (result: LoadResult) => void; reject: (error: Error) => void }[] = [];
    const exporter = await Exporter.start(first, {
      load: () => new Promise((resolve, reject) => loads.push({ resolve, reject })),
      build: { version: '1', revision: 'r', nodeVersion: 'v' },
      shard: { ordinal: 0, total: 1 },
      log: createLogger({ level: 'error', format: 'logfmt', write: () => undefined }),
      processMetrics: false,
    });
    onTestFinished(() => exporter.close());
    return { exporter, loads };
  }

  it('loads the configuration once more for all who request it while a reload runs', async () => {
    const { exporter, loads } = await startExporter();
    const running = exporter.reload();
    const waiting = Array.from({ length: 300 }, () => exporter.reload());
    expect(loads).toHaveLength(1);
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
    await exporter.close();
    loads[0]?.resolve(valid(['b']));
    expect(await Promise.all(reloads)).toEqual([['the exporter is shutting down'], ['the exporter is shutting down']]);
    expect(loads).toHaveLength(1);
    expect(namesOf(exporter)).toEqual(['a']);
  });
});
