import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { Exporter, type ExporterOptions } from '../../src/app/exporter.ts';
import { type LoadResult, loadConfig } from '../../src/config/load.ts';
import type { Body } from '../../src/exposition/exposition.ts';
import { currentProblems } from '../../src/problems/problems.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { iterationsDuring } from '../event-loop.ts';
import { SILENT, setUpLog } from '../journal/recorded-log.ts';
import { eventually } from '../web/eventually.ts';

const namesOf = (exporter: Exporter) => exporter.specs().map(({ name }) => name);

const load = (config: object): Promise<LoadResult> =>
  loadConfig({ file: 'config.yaml', text: stringify(config), env: {} });

const valid = (...stations: readonly string[]) => load(configOf('http://127.0.0.1:1', stations));

/** An exporter that is closed when the test ends. */
function exporterOf(loaded: LoadResult, options: Partial<ExporterOptions> = {}): Exporter {
  if (!loaded.ok) return expect.unreachable();
  const exporter = new Exporter(loaded, { load: async () => loaded, ...SILENT, ...options });
  onTestFinished(() => exporter.close());
  return exporter;
}

describe('Exporter.reload', () => {
  /** An exporter that reloads, whose configuration is loaded when the test says so. */
  async function reloading(options: Partial<ExporterOptions> = {}) {
    const loads: { resolve: (result: LoadResult) => void; reject: (error: Error) => void }[] = [];
    const exporter = exporterOf(await valid('a'), {
      load: () => new Promise((resolve, reject) => loads.push({ resolve, reject })),
      ...options,
    });
    await exporter.start();
    const running = exporter.reload();
    await eventually(() => expect(loads).toHaveLength(1));
    return { exporter, loads, running };
  }

  it('loads the configuration once more for all who request it while a reload runs', async () => {
    const { exporter, loads, running } = await reloading();
    const waiting = Array.from({ length: 300 }, () => exporter.reload());
    loads[0]?.resolve(await valid('a', 'b'));
    expect(await running).toEqual([]);
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(await valid('a', 'b', 'a'));
    const problems = await Promise.all(waiting);
    expect(problems[0]).toEqual([expect.stringMatching(/^config\.yaml:\d+:\d+: stations\[2\]/)]);
    expect(new Set(problems)).toEqual(new Set([problems[0]]));
    expect(loads).toHaveLength(2);
    expect(namesOf(exporter)).toEqual(['a', 'b']);
  });

  it('runs the waiting reload after one that failed', async () => {
    const { exporter, loads, running } = await reloading();
    const waiting = exporter.reload();
    loads[0]?.reject(new Error('a bug'));
    await expect(running).rejects.toThrow('a bug');
    expect(exporter.rejectedReload()).toMatchObject({
      problems: ['internal error (exporter bug), which the log shows'],
      isInternal: true,
    });
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(await valid('b'));
    expect(await waiting).toEqual([]);
    expect(namesOf(exporter)).toEqual(['b']);
    expect(exporter.configuration()).toContain('- name: b\n');
  });

  it('keeps since when reloads have been rejected, with the latest problems', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
    onTestFinished(() => void vi.useRealTimers());
    const { exporter, loads, running } = await reloading();
    loads[0]?.resolve(await valid('a', 'a'));
    await running;
    const since = exporter.rejectedReload()?.atMs;
    vi.setSystemTime(900_000);
    const again = exporter.reload();
    await eventually(() => expect(loads).toHaveLength(2));
    loads[1]?.resolve(await valid('a', 'b', 'b'));
    const problems = await again;
    expect(exporter.rejectedReload()).toEqual({ atMs: since, problems });
  });

  it('abandons a running reload when the exporter closes', async () => {
    const { exporter, loads, running } = await reloading();
    const reloads = [running, exporter.reload()];
    await exporter.close();
    loads[0]?.resolve(await valid('b'));
    expect(await Promise.all(reloads)).toEqual([['the exporter is shutting down'], ['the exporter is shutting down']]);
    expect(loads).toHaveLength(1);
    expect(namesOf(exporter)).toEqual(['a']);
  });
});

describe('Exporter.start', () => {
  it('lets other events be handled while thousands of stations are built and started', async () => {
    const names = Array.from({ length: 2000 }, (_, at) => `station-${at}`);
    const exporter = exporterOf(await valid(...names));
    expect(await iterationsDuring(() => exporter.start())).toBeGreaterThanOrEqual(20);
    expect(exporter.specs()).toHaveLength(2000);
  });

  it('ends when the exporter is closed meanwhile', async () => {
    const exporter = exporterOf(await valid('a'));
    const starting = exporter.start();
    await exporter.close();
    await expect(starting).rejects.toThrow();
    expect(exporter.ready()).toBe(false);
  });

  it('is ready a minute after its creation, whatever its stations do', async () => {
    const service = await startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });
    let nowMs = 0;
    const exporter = exporterOf(await load(configOf(service.url, ['a'])), { elapsedMs: () => nowMs });
    await exporter.start();
    nowMs = 59_999;
    expect(exporter.ready()).toBe(false);
    nowMs = 60_000;
    expect(exporter.ready()).toBe(true);
  });
});

describe('a reload that changes which stations there are', () => {
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`);

  async function reloader() {
    const log = setUpLog();
    let next = await valid(...names);
    const exporter = exporterOf(next, { load: async () => next, log: log.log });
    await exporter.start();
    log.logged();
    return async (...stations: string[]) => {
      next = await valid(...stations);
      expect(await exporter.reload()).toEqual([]);
      const problems = currentProblems({
        stations: [],
        upstreams: [],
        removedStations: exporter.removedStations(),
        nowMs: Date.now(),
      });
      return {
        logged: log.logged().filter((line) => line.includes('reload')),
        shown: problems.map(({ what }) => what),
      };
    };
  }

  it('logs how many were added, removed and changed, and their first names', async () => {
    const reload = await reloader();
    expect(await reload(...names.slice(2), 'new')).toEqual({
      logged: [
        'info msg="configuration reloaded" stations=19 added=1 added_stations=new removed=2 removed_stations="s0, s1" changed=0',
      ],
      shown: [],
    });
  });

  it('warns when more than a fifth is gone, in the log once, and on the status page until they are configured again', async () => {
    const reload = await reloader();
    const cut = await reload(...names.slice(0, 8));
    const removed = 'removed=12 removed_stations="s8, s9, s10, s11, s12, and 7 more"';
    expect(cut.logged).toEqual([
      `info msg="configuration reloaded" stations=8 added=0 ${removed} changed=0`,
      `warn msg="many stations removed by the reload, their alerts will end" ${removed} before=20`,
    ]);
    const shown = ['12 of 20 stations removed by a reload: s8, s9, s10, s11, s12, and 7 more. Alerts on them end.'];
    expect(cut.shown).toEqual(shown);
    expect(await reload(...names.slice(0, 8))).toMatchObject({ logged: [expect.stringContaining('info')], shown });
    expect(await reload(...names)).toMatchObject({ logged: [expect.stringContaining('added=12')], shown: [] });
  });
});

describe('Exporter.scrape', () => {
  it('publishes with the next scrape how large the last one of all stations was, and nothing before', async () => {
    const { url } = await startTestService({ source: () => entriesOf(2) });
    const exporter = exporterOf(await load(configOf(url, ['s'])));
    await exporter.start();
    const deadline = { atMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    const sizesIn = async (body: Body) =>
      (await text(body.plain())).match(/(?<=^telemetry_station_exporter_scrape_bytes\{encoding=)\S+ \d+$/gm);
    const first = await exporter.scrape('text', undefined, deadline);
    expect(await sizesIn(first)).toBeNull();
    await exporter.scrape('text', 's', deadline);
    const lengths = [`"identity"} ${first.plainLength}`, `"gzip"} ${first.gzipLength}`];
    expect(await sizesIn(await exporter.scrapeOwn('text'))).toEqual(lengths);
    expect(await sizesIn(await exporter.scrape('text', undefined, deadline))).toEqual(lengths);
    expect(exporter.scrapeSize()?.families.get('telemetry_station_resource_info')).toBeGreaterThan(0);
  });
});
