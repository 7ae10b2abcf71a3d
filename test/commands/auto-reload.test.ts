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

/** A rejected configuration. */
const REJECTED: LoadResult = { ok: false, problems: [] };

describe('autoReload', () => {
  it('reloads once for each change, although it is rejected', async () => {
    const changes: Readonly<Record<number, string>> = { 2: 'broken', 5: 'still broken', 8: 'first' };
    let content = 'first';
    const config = watchedConfig(
      async () => REJECTED,
      async () => content,
      async () => undefined,
    );
    await config.load();
    const reloaded: string[] = [];
    const reload = async () => {
      reloaded.push(content);
      return config.load();
    };
    let ticks = 0;
    const tick = async () => {
      content = changes[ticks] ?? content;
      ticks += 1;
      return ticks <= 10;
    };
    await autoReload(config, reload, tick);
    expect(reloaded).toEqual(Object.values(changes));
  });
});

describe('watchedConfig', () => {
  it('does not repeat a reload that was requested otherwise, and notices a change during a reload', async () => {
    let content = 'first';
    let written = 'first';
    const config = watchedConfig(
      async () => {
        content = written;
        return REJECTED;
      },
      async () => content,
      async () => undefined,
    );
    await config.load();
    expect(await config.hasChanged()).toBe(false);
    content = 'second';
    expect(await config.hasChanged()).toBe(true);
    written = 'second';
    await config.load();
    expect(await config.hasChanged()).toBe(false);
    written = 'third';
    await config.load();
    expect(await config.hasChanged()).toBe(true);
  });

  it('does not load files that are being written', async () => {
    let content = 'first';
    const writes = ['half', 'all', 'all'];
    const config = watchedConfig(
      async () => REJECTED,
      async () => content,
      async () => {
        content = writes.shift() ?? content;
      },
    );
    await config.load();
    content = 'start';
    const results = [await config.hasChanged(), await config.hasChanged(), await config.hasChanged()];
    expect(results).toEqual([false, false, true]);
  });
});

describe('serve --config.auto-reload-interval', () => {
  it('reloads when the configuration changes, and when Kubernetes swaps the link to a volume of secrets and station files', async () => {
    const { url } = await startTestService({ source: () => entriesOf(3) });
    const further = configOf(url, ['b', 'c']).stations;
    const program = await serve(configOf(url, ['a']), '--config.auto-reload-interval=20ms');
    const path = (name: string) => join(dirname(program.file), name);
    const serves = (...expected: string[]) =>
      eventually(async () => {
        const metrics = await program.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' });
        expect(Object.keys(valuesOf(metrics, 'telemetry_station_info', 'station'))).toEqual(expected);
      });
    const reloads = () => program.output().stderr.split('msg="configuration reloaded"').length;
    const mount = (version: string, token: string, stations: readonly unknown[]) => {
      mkdirSync(path(version));
      writeFileSync(path(`${version}/token`), token);
      writeFileSync(path(`${version}/more.yaml`), stringify(stations));
      symlinkSync(version, path(`${version}.link`));
      renameSync(path(`${version}.link`), path('..data'));
    };
    mount('..1', 'one', further.slice(0, 1));
    symlinkSync('..data', path('volume'));
    const changed = configOf(url, ['a'], { upstream: { authorization: { credentials_file: 'volume/token' } } });
    replaceFile(program.file, stringify({ ...changed, station_files: ['volume/*.yaml'] }));
    await serves('a', 'b');
    mount('..2', 'one', further);
    await serves('a', 'b', 'c');
    const before = reloads();
    mount('..3', 'two', further);
    await eventually(() => expect(reloads()).toBe(before + 1));
  });
});
