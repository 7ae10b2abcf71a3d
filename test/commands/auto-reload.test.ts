import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  async function served() {
    const { url } = await startTestService({ source: () => entriesOf(3) });
    const [first, ...further] = configOf(url, ['a', 'b', 'c']).stations;
    const config = {
      ...configOf(url, [], { upstream: { authorization: { credentials_file: 'token' } } }),
      stations: [first],
      station_files: ['more*.yaml'],
    };
    const program = await serve(config, '--config.auto-reload-interval=20ms');
    const path = (name: string) => join(dirname(program.file), name);
    const names = async () => {
      const metrics = await program.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' });
      return Object.keys(valuesOf(metrics, 'telemetry_station_info', 'station'));
    };
    const serves = (...expected: string[]) => eventually(async () => expect(await names()).toEqual(expected));
    const logged = (text: string) => program.output().stderr.split(`msg="configuration ${text}"`).length - 1;
    const successful = async () =>
      valuesOf(await program.scrape(), 'telemetry_station_exporter_config_last_reload_successful')[''];
    return { ...program, config, further, path, names, serves, logged, successful };
  }

  it('reloads when the configuration, a station file or a secret file changes', async () => {
    const { file, config, further, path, serves, logged } = await served();
    replaceFile(path('more1.yaml'), stringify([further[0]]));
    await serves('a', 'b');
    replaceFile(path('more1.yaml'), stringify(further));
    await serves('a', 'b', 'c');
    rmSync(path('more1.yaml'));
    await serves('a');
    replaceFile(file, stringify({ ...config, stations: further }));
    await serves('b', 'c');
    const before = logged('reloaded');
    replaceFile(path('token'), 'secret\n');
    await eventually(() => expect(logged('reloaded')).toBe(before + 1));
  });

  it('reloads when Kubernetes swaps the link to a volume of secrets and station files', async () => {
    const { file, config, further, path, serves, logged } = await served();
    const mount = (version: string, token: string, stations: readonly unknown[]) => {
      mkdirSync(path(version));
      writeFileSync(path(`${version}/token`), token);
      writeFileSync(path(`${version}/more.yaml`), stringify(stations));
      symlinkSync(version, path(`${version}.link`));
      renameSync(path(`${version}.link`), path('..data'));
    };
    mount('..1', 'one', [further[0]]);
    symlinkSync('..data', path('volume'));
    const upstreams = { main: { ...config.upstreams.main, authorization: { credentials_file: 'volume/token' } } };
    replaceFile(file, stringify({ ...config, upstreams, station_files: ['volume/*.yaml'] }));
    await serves('a', 'b');
    mount('..2', 'one', further);
    await serves('a', 'b', 'c');
    const before = logged('reloaded');
    mount('..3', 'two', further);
    await eventually(() => expect(logged('reloaded')).toBe(before + 1));
  });

  it('keeps the configuration in force after a broken change, and takes the next one', async () => {
    const { file, config, further, path, names, serves, logged, successful } = await served();
    replaceFile(path('more1.yaml'), '- {}\n');
    await eventually(() => expect(logged('reload failed')).toBe(1));
    expect(await names()).toEqual(['a']);
    expect(await successful()).toBe(0);
    replaceFile(file, 'upstreams: [');
    await eventually(() => expect(logged('reload failed')).toBeGreaterThan(1));
    replaceFile(path('more1.yaml'), stringify(further));
    replaceFile(file, stringify(config));
    await serves('a', 'b', 'c');
    expect(await successful()).toBe(1);
  });
});
