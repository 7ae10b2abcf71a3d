import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { autoReload, watchedConfig } from '../../src/commands/auto-reload.ts';
import type { LoadResult } from '../../src/config/load.ts';
import { serve } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { replaceFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';

type Change = (files: { content: string }) => void;

/** Files with a content that the test changes, also while they are loaded and during the pause. */
async function watched(whileLoading: Change = () => undefined, duringPause: Change = () => undefined) {
  const files = { content: 'first' };
  const rejected: LoadResult = { ok: false, problems: [] };
  const config = watchedConfig(
    async () => {
      whileLoading(files);
      return rejected;
    },
    async () => files.content,
    async () => duringPause(files),
  );
  await config.load();
  return { files, config };
}

describe('autoReload', () => {
  it('reloads once for each change, although it is rejected', async () => {
    const changes: Readonly<Record<number, string>> = { 2: 'broken', 5: 'still broken', 8: 'first' };
    const { files, config } = await watched();
    const reloaded: string[] = [];
    const reload = async () => {
      reloaded.push(files.content);
      return config.load();
    };
    let ticks = 0;
    const tick = async () => {
      files.content = changes[ticks] ?? files.content;
      ticks += 1;
      return ticks <= 10;
    };
    await autoReload(config, reload, tick);
    expect(reloaded).toEqual(Object.values(changes));
  });
});

describe('watchedConfig', () => {
  it('does not repeat a reload that was requested otherwise, and notices a change during a reload', async () => {
    let written: string | undefined;
    const { files, config } = await watched((loading) => {
      loading.content = written ?? loading.content;
    });
    expect(await config.hasChanged()).toBe(false);
    files.content = 'second';
    expect(await config.hasChanged()).toBe(true);
    await config.load();
    expect(await config.hasChanged()).toBe(false);
    written = 'third';
    await config.load();
    expect(await config.hasChanged()).toBe(true);
  });

  it('does not load files that are being written', async () => {
    const writes = ['half', 'all', 'all'];
    const { files, config } = await watched(undefined, (paused) => {
      paused.content = writes.shift() ?? paused.content;
    });
    files.content = 'start';
    const results = [await config.hasChanged(), await config.hasChanged(), await config.hasChanged()];
    expect(results).toEqual([false, false, true]);
  });
});

describe('serve --config.auto-reload-interval', () => {
  it('reloads when the configuration changes, and when Kubernetes swaps the link to a volume of station files', async () => {
    const { url } = await startTestService({ source: () => entriesOf(3) });
    const program = await serve(configOf(url, ['a']), '--config.auto-reload-interval=20ms');
    const path = (name: string) => join(dirname(program.file), name);
    const serves = (...expected: string[]) =>
      eventually(async () => {
        const metrics = await program.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' });
        expect(Object.keys(valuesOf(metrics, 'telemetry_station_info', 'station'))).toEqual(expected);
      });
    const mount = (version: string, ...stations: string[]) => {
      mkdirSync(path(version));
      writeFileSync(path(`${version}/more.yaml`), stringify(configOf(url, stations).stations));
      symlinkSync(version, path(`${version}.link`));
      renameSync(path(`${version}.link`), path('..data'));
    };
    mount('..1', 'b');
    symlinkSync('..data', path('volume'));
    replaceFile(program.file, stringify({ ...configOf(url, ['a']), station_files: ['volume/*.yaml'] }));
    await serves('a', 'b');
    mount('..2', 'b', 'c');
    await serves('a', 'b', 'c');
  });
});
