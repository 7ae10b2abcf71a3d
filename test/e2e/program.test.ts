import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { scrapeOf, startProgram } from './built-program.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

describe('telemetry-station-exporter', () => {
  it('serves the demo until SIGTERM, and exits with 0', async () => {
    const { child, output, closed, url } = startProgram({}, '--demo', '--web.listen-address=127.0.0.1:0');
    const base = await url();
    const metrics = await scrapeOf(base, 0.6);
    expect(Object.keys(valuesOf(metrics, 'telemetry_station_info', 'station')).length).toBeGreaterThan(3);
    const builds = valuesOf(metrics, 'telemetry_station_exporter_build_info', 'version', 'node_version');
    expect(builds).toEqual({ [`${packageJson.version}|${process.version}`]: 1 });
    expect(await (await fetch(base)).text()).toContain('<h1>Telemetry station exporter</h1>');
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
    expect(output.stdout).toBe('');
  });

  it('expands environment variables, resolves file names relative to the configuration file and reloads it', async () => {
    const service = await startTestService({
      source: () => entriesOf(3),
      auth: { authorization: { credentials: 'from-a-file' } },
    });
    const upstream = { authorization: { credentials_file: 'token' } };
    const config = (...names: string[]) => stringify(configOf('${' + 'SERVICE_URL}', names, { upstream }));
    const file = temporaryFile('stations.yaml', config('a'));
    writeFileSync(join(dirname(file), 'token'), 'from-a-file\n');
    const { child, closed, url, output } = startProgram(
      { folder: dirname(file), env: { SERVICE_URL: service.url } },
      ...[`--config.file=${basename(file)}`, '--web.listen-address=127.0.0.1:0'],
    );
    const base = await url();
    expect(valuesOf(await scrapeOf(base), 'telemetry_station_up', 'station'), output.stderr).toEqual({ a: 1 });
    writeFileSync(file, config('a', 'b'));
    child.kill('SIGHUP');
    await eventually(async () => expect(await (await fetch(`${base}/sd`)).json()).toHaveLength(2));
    child.kill('SIGINT');
    expect(await closed).toEqual({ code: 0, signal: null });
  });

  it('aborts check --live on SIGINT while a request hangs', async () => {
    const service = await startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });
    const upstream = { timeout: '10m', refresh_timeout: '1h' };
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'], { upstream })));
    const { child, output, closed } = startProgram({ folder: dirname(file) }, 'check', '--live');
    await eventually(() => expect(service.requests).toHaveLength(1));
    child.kill('SIGINT');
    expect(await closed).toEqual({ code: 130, signal: null });
    expect(output.stdout).toBe('config.yaml is valid, stations: 1\n');
  });

  it('prints its version', async () => {
    const { output, closed } = startProgram({}, '--version');
    expect(await closed).toEqual({ code: 0, signal: null });
    expect(output.stdout).toContain(`version ${packageJson.version} `);
    expect(output.stderr).toBe('');
  });
});
