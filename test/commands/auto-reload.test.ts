import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { autoReload } from '../../src/commands/serve.ts';
import { serve } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { replaceFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';

describe('autoReload', () => {
  it('reloads once for each change, although it is rejected, and for one during a reload', async () => {
    const changes: Readonly<Record<number, string>> = { 2: 'broken', 5: 'still broken', 8: 'first' };
    const reloaded: string[] = [];
    let content = 'first';
    let ticks = 0;
    const reload = async () => {
      reloaded.push(content);
      if (content === 'still broken') content = 'repaired';
    };
    const tick = async () => {
      content = changes[ticks] ?? content;
      ticks += 1;
      return ticks <= 10;
    };
    await autoReload('first', async () => content, reload, tick);
    expect(reloaded).toEqual(['broken', 'still broken', 'repaired', 'first']);
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
