import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { startSimulatedService } from '../../src/simulator/service.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { startProgram } from './built-program.ts';
import { configOf, entriesOf } from './test-bed.ts';

const textOf = async (url: string) =>
  (await fetch(url, { headers: { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' } })).text();

describe('telemetry-station-exporter', () => {
  it('serves the demo until SIGTERM, and exits with 0', async () => {
    const { child, output, closed, url } = startProgram(
      { folder: dirname(temporaryFile('x', '')) },
      '--demo',
      '--web.listen-address=127.0.0.1:0',
    );
    const base = await url();
    const metrics = parseExposition(await textOf(`${base}/metrics`));
    expect(Object.keys(valuesOf(metrics, 'telemetry_station_info', 'station')).length).toBeGreaterThan(3);
    const builds = valuesOf(metrics, 'telemetry_station_exporter_build_info', 'version', 'node_version');
    expect(builds).toEqual({ [`${packageJson.version}|${process.version}`]: 1 });
    expect(await textOf(`${base}/`)).toContain('<h1>Telemetry station exporter</h1>');
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
    expect(output.stdout).toBe('');
  });

  it('expands environment variables and resolves file names relative to the configuration file', async () => {
    const service = await startSimulatedService({
      source: () => entriesOf(3),
      auth: { scheme: 'token', token: 'from-a-file' },
    });
    onTestFinished(() => service.stop());
    const upstream = { authorization: { credentials_file: 'token' } };
    const file = temporaryFile('stations.yaml', stringify(configOf('${' + 'SERVICE_URL}', ['a'], { upstream })));
    writeFileSync(join(dirname(file), 'token'), 'from-a-file\n');
    const flags = [`--config.file=${basename(file)}`, '--web.listen-address=127.0.0.1:0'];
    const { child, closed, url, output } = startProgram(
      { folder: dirname(file), env: { SERVICE_URL: service.url } },
      ...flags,
    );
    const metrics = parseExposition(await (await fetch(`${await url()}/metrics`)).text());
    expect(valuesOf(metrics, 'telemetry_station_up', 'station'), output.stderr).toEqual({ a: 1 });
    child.kill('SIGINT');
    expect(await closed).toEqual({ code: 0, signal: null });
  });

  it('reloads its configuration on SIGHUP', async () => {
    const service = await startSimulatedService({ source: () => entriesOf(3) });
    onTestFinished(() => service.stop());
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'])));
    const { child, url } = startProgram({ folder: dirname(file) }, '--web.listen-address=127.0.0.1:0');
    const base = await url();
    writeFileSync(file, stringify(configOf(service.url, ['a', 'b'])));
    child.kill('SIGHUP');
    await eventually(async () => expect(await (await fetch(`${base}/sd`)).json()).toHaveLength(2));
  });

  it('prints configuration problems to stderr only, and exits with 1', async () => {
    const file = temporaryFile('config.yaml', 'upstreams: {}\nstations: 3\nsurprise: true\n');
    const { output, closed } = startProgram({ folder: dirname(file) });
    expect(await closed).toEqual({ code: 1, signal: null });
    expect(output.stdout).toBe('');
    expect(output.stderr.split('\n')).toEqual([
      expect.stringMatching(/^config\.yaml:1:12: upstreams: /),
      expect.stringMatching(/^config\.yaml:2:11: stations: /),
      expect.stringMatching(/^config\.yaml:3:1: surprise: /),
      '',
    ]);
  });

  it('aborts check --live on SIGINT while a request hangs', async () => {
    const service = await startSimulatedService({ faults: { '*': [{ kind: 'hang' }] } });
    onTestFinished(() => service.stop());
    const upstream = { timeout: '10m', refresh_timeout: '1h' };
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'], { upstream })));
    const { child, output, closed } = startProgram({ folder: dirname(file) }, 'check', '--live');
    await eventually(() => expect(service.requests).toHaveLength(1));
    child.kill('SIGINT');
    expect(await closed).toEqual({ code: 130, signal: null });
    expect(output.stdout).toBe('config.yaml is valid, stations: 1\n');
  });

  it('prints its version', async () => {
    const { output, closed } = startProgram({ folder: dirname(temporaryFile('x', '')) }, '--version');
    expect(await closed).toEqual({ code: 0, signal: null });
    expect(output.stdout).toContain(`version ${packageJson.version} `);
    expect(output.stderr).toBe('');
  });
});
