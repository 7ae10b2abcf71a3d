import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { detailOf, Exporter, statusOf } from '../../src/app/exporter.ts';
import { createLogger } from '../../src/app/logger.ts';
import { type LoadResult, loadConfig } from '../../src/config/load.ts';
import type { Resource } from '../../src/station/resource.ts';
import type { Health } from '../../src/station/station-cache.ts';
import type { StationSpec } from '../../src/station/station-spec.ts';
import { configOf } from '../e2e/test-bed.ts';
import { resourceOf } from '../station/fixtures.ts';
import { eventually } from '../web/eventually.ts';
import { viewOf } from './station-view.ts';

const NEVER: Health = { lastAttemptMs: undefined, lastSuccessMs: undefined, durationMs: undefined, failure: undefined };

describe('statusOf', () => {
  it('maps a station that is up', () => {
    const cache = { ttlMs: 1, maxStaleMs: 2, errorTtlMs: 3, refresh: 'background' } as const;
    expect(statusOf(viewOf([resourceOf('a')], { cache }, { pages: 4, complete: false }))).toEqual({
      name: 'prod',
      upstream: 'main',
      telemetryStation: 'ts',
      up: true,
      failure: undefined,
      lastSuccessMs: 2000,
      lastAttemptMs: 2000,
      durationMs: 12,
      dueInMs: 345,
      isRefreshing: false,
      waitingMs: undefined,
      refresh: 'background',
      snapshot: { resources: 1, complete: false, pages: 4, alertable: undefined, withoutRules: 0 },
    });
  });

  it('reports a station that was never refreshed as neither up nor down', () => {
    expect(statusOf({ ...viewOf([]), health: NEVER, served: undefined, isRefreshing: true })).toMatchObject({
      up: undefined,
      isRefreshing: true,
      refresh: 'scrape',
      snapshot: undefined,
    });
  });

  it('reports the failure of a station that is down', () => {
    const failure = { reason: 'auth', message: 'refused', error: new Error('refused') } as const;
    const health = { ...NEVER, lastAttemptMs: 1, failure };
    expect(statusOf({ ...viewOf([]), health })).toMatchObject({ up: false, failure: { reason: 'auth', message: 'refused' } });
  });

  it.each<[string, Partial<StationSpec>, Resource[], object]>([
    [
      'counts only alertable resources without alert rules when alertability is on',
      { alertability: true },
      [
        resourceOf('a', { alertable: true, alertRules: 0 }),
        resourceOf('b', { alertable: true, alertRules: 3, type: 'other' }),
        resourceOf('c', { alertable: false, alertRules: 0 }),
      ],
      { alertable: 2, withoutRules: 1 },
    ],
    [
      'counts all resources without alert rules when alertability is off',
      {},
      [resourceOf('a', { alertRules: 0 }), resourceOf('b', { alertRules: 0, type: 'other' }), resourceOf('c')],
      { alertable: undefined, withoutRules: 2 },
    ],
    [
      'does not count resources with an unknown number of alert rules',
      { alertability: true },
      [resourceOf('a', { alertable: true, alertRules: undefined })],
      { alertable: 1, withoutRules: undefined },
    ],
    ['counts no alertable resource in an empty station', { alertability: true }, [], { alertable: 0, withoutRules: undefined }],
  ])('%s', (_title, spec, resources, counts) => {
    expect(statusOf(viewOf(resources, spec)).snapshot).toMatchObject(counts);
  });
});

describe('detailOf', () => {
  it('adds the configuration and the snapshot to the status', () => {
    const view = viewOf([resourceOf('a')]);
    expect(detailOf(view)).toEqual({
      spec: view.spec,
      status: statusOf(view),
      served: {
        snapshot: view.served?.publication.snapshot,
        aggregates: view.served?.encoded.aggregates,
        withheld: 7,
      },
    });
  });

  it('has no snapshot before the first success', () => {
    expect(detailOf({ ...viewOf([]), served: undefined }).served).toBeUndefined();
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
    expect(exporter.names()).toEqual(['a', 'b']);
  });

  it('runs the waiting one after one that failed', async () => {
    const { exporter, loads } = await startExporter();
    const running = exporter.reload();
    const waiting = exporter.reload();
    loads[0]?.reject(new Error('a bug'));
    await expect(running).rejects.toThrow('a bug');
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(valid(['b']));
    expect(await waiting).toEqual([]);
    expect(exporter.names()).toEqual(['b']);
  });

  it('is abandoned when the exporter closes', async () => {
    const { exporter, loads } = await startExporter();
    const reloads = [exporter.reload(), exporter.reload()];
    await exporter.close();
    loads[0]?.resolve(valid(['b']));
    expect(await Promise.all(reloads)).toEqual([['the exporter is shutting down'], ['the exporter is shutting down']]);
    expect(loads).toHaveLength(1);
    expect(exporter.names()).toEqual(['a']);
  });
});
