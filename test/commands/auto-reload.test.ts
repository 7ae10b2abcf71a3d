import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { autoReload, intervalTicks, WatchedConfig } from '../../src/commands/auto-reload.ts';
import { type LoadResult, loadConfig } from '../../src/config/load.ts';
import { startSimulatedService } from '../../src/simulator/service.ts';
import { serve } from '../e2e/running-program.ts';
import { configOf, entriesOf } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { replaceFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';

const LOADED = loadConfig({ file: 'f', text: stringify(configOf('http://h', ['a'])), env: {} });

/** Ten ticks, with a change before the given ones. */
async function* tenTicks(changes: Readonly<Record<number, () => void>>) {
  for (let tick = 0; tick < 10; tick += 1) {
    changes[tick]?.();
    yield;
  }
}

/** Counts the reloads of ten ticks. */
async function reloadsOf(
  changes: (file: { content: string }, config: WatchedConfig) => Readonly<Record<number, () => void>>,
  load = async () => LOADED,
) {
  const file = { content: 'first' };
  const config = new WatchedConfig(
    load,
    async () => file.content,
    async () => undefined,
  );
  await config.load();
  const reloaded: string[] = [];
  const reload = async () => {
    reloaded.push(file.content);
    return config.load();
  };
  await autoReload(config, reload, tenTicks(changes(file, config)));
  return reloaded;
}

describe('autoReload', () => {
  it('reloads once for each change', async () => {
    const reloaded = await reloadsOf((file) => ({
      2: () => {
        file.content = 'second';
      },
      5: () => {
        file.content = 'first';
      },
    }));
    expect(reloaded).toEqual(['second', 'first']);
  });

  it('does not load a rejected change again until the files change again', async () => {
    const rejected = async (): Promise<LoadResult> => ({ ok: false, problems: [] });
    const change = (file: { content: string }) => ({
      1: () => {
        file.content = 'broken';
      },
      6: () => {
        file.content = 'still broken';
      },
    });
    expect(await reloadsOf(change, rejected)).toEqual(['broken', 'still broken']);
  });

  it('does not repeat a reload that was requested otherwise', async () => {
    const reloaded = await reloadsOf((file, config) => ({
      3: () => {
        file.content = 'second';
        void config.load();
      },
    }));
    expect(reloaded).toEqual([]);
  });

  it('notices a change during a reload', async () => {
    let content = 'first';
    const config = new WatchedConfig(
      async () => {
        content = 'third';
        return LOADED;
      },
      async () => content,
      async () => undefined,
    );
    await config.load();
    expect(await config.hasChanged()).toBe(true);
  });

  it('does not load files that are being written', async () => {
    let content = 'first';
    const writes = ['half', 'all', 'all'];
    const config = new WatchedConfig(
      async () => LOADED,
      async () => content,
      async () => {
        content = writes.shift() ?? content;
      },
    );
    await config.load();
    content = 'start';
    expect([await config.hasChanged(), await config.hasChanged(), await config.hasChanged()]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('intervalTicks', () => {
  it('ends when the signal aborts', async () => {
    const controller = new AbortController();
    let ticks = 0;
    for await (const _tick of intervalTicks(1, controller.signal)) {
      ticks += 1;
      if (ticks === 3) controller.abort();
    }
    expect(ticks).toBe(3);
  });
});

describe('serve --config.auto-reload-interval', () => {
  async function served(...flags: string[]) {
    const service = await startSimulatedService({ source: () => entriesOf(3) });
    onTestFinished(() => service.stop());
    const [first, ...further] = configOf(service.url, ['a', 'b', 'c']).stations;
    const config = {
      ...configOf(service.url, [], { upstream: { authorization: { credentials_file: 'token' } } }),
      stations: [first],
      station_files: ['more*.yaml'],
    };
    const program = await serve(config, ...flags);
    const path = (name: string) => join(dirname(program.file), name);
    const names = async () =>
      Object.keys(
        valuesOf(
          await program.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' }),
          'telemetry_station_info',
          'station',
        ),
      );
    const logged = (text: string) =>
      program
        .output()
        .stderr.split('\n')
        .filter((line) => line.includes(text)).length;
    const successful = async () =>
      (await program.scrape()).get('telemetry_station_exporter_config_last_reload_successful')?.samples[0]?.value;
    return { ...program, config, further, path, names, logged, successful };
  }

  it('reloads when the configuration, a station file or a secret file changes', async () => {
    const { file, config, further, path, names, logged } = await served('--config.auto-reload-interval=20ms');
    replaceFile(path('more1.yaml'), stringify([further[0]]));
    await eventually(async () => expect(await names()).toEqual(['a', 'b']));
    replaceFile(path('more1.yaml'), stringify(further));
    await eventually(async () => expect(await names()).toEqual(['a', 'b', 'c']));
    rmSync(path('more1.yaml'));
    await eventually(async () => expect(await names()).toEqual(['a']));
    replaceFile(file, stringify({ ...config, stations: further }));
    await eventually(async () => expect(await names()).toEqual(['b', 'c']));
    const before = logged('msg="configuration reloaded"');
    replaceFile(path('token'), 'secret\n');
    await eventually(() => expect(logged('msg="configuration reloaded"')).toBe(before + 1));
  });

  it('reloads when Kubernetes swaps the link to a volume of secrets and station files', async () => {
    const { config, file, further, path, names, logged } = await served('--config.auto-reload-interval=20ms');
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
    await eventually(async () => expect(await names()).toEqual(['a', 'b']));
    mount('..2', 'one', further);
    await eventually(async () => expect(await names()).toEqual(['a', 'b', 'c']));
    const before = logged('msg="configuration reloaded"');
    mount('..3', 'two', further);
    await eventually(() => expect(logged('msg="configuration reloaded"')).toBe(before + 1));
  });

  it('keeps the stations of a folder that vanishes', async () => {
    const { config, file, further, path, names, logged } = await served('--config.auto-reload-interval=20ms');
    mkdirSync(path('fleet'));
    writeFileSync(path('fleet/more.yaml'), stringify(further));
    replaceFile(file, stringify({ ...config, station_files: ['fleet/*.yaml'] }));
    await eventually(async () => expect(await names()).toEqual(['a', 'b', 'c']));
    renameSync(path('fleet'), path('gone'));
    await eventually(() => expect(logged('msg="configuration reload failed"')).toBe(1));
    expect(await names()).toEqual(['a', 'b', 'c']);
    renameSync(path('gone'), path('fleet'));
    rmSync(path('fleet/more.yaml'));
    await eventually(async () => expect(await names()).toEqual(['a']));
  });

  it('keeps the configuration in force after a broken change, and takes the next one', async () => {
    const { file, config, further, path, names, logged, successful } = await served(
      '--config.auto-reload-interval=20ms',
    );
    replaceFile(path('more1.yaml'), '- {}\n');
    await eventually(() => expect(logged('msg="configuration reload failed"')).toBe(1));
    expect(await names()).toEqual(['a']);
    expect(await successful()).toBe(0);
    replaceFile(file, 'upstreams: [');
    await eventually(() => expect(logged('msg="configuration reload failed"')).toBeGreaterThan(1));
    replaceFile(path('more1.yaml'), stringify(further));
    replaceFile(file, stringify(config));
    await eventually(async () => expect(await names()).toEqual(['a', 'b', 'c']));
    expect(await successful()).toBe(1);
  });
});
