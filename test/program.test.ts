import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { NAMED_FAULTS } from '../lab/simulator/faults.ts';
import { demoStations } from '../lab/simulator/stations.ts';
import packageJson from '../package.json' with { type: 'json' };
import { helpText } from '../src/cli/help.ts';
import { readBuild } from '../src/program.ts';
import { configFlag, resultOf, run, serve } from './e2e/running-program.ts';
import { configOf, entriesOf, startTestService } from './e2e/test-bed.ts';
import { parseExposition, valuesOf } from './exposition/parse-exposition.ts';
import { temporaryFile } from './service/support/files.ts';
import { closedPort, listen } from './service/support/service.ts';
import type { ServiceOptions } from './simulator/simulated-service.ts';
import { eventually } from './web/eventually.ts';
import { httpRequest } from './web/http-client.ts';

const startService = (options: ServiceOptions = {}) => startTestService({ source: () => entriesOf(3), ...options });

/** Runs `serve` with the station `a` of a service. */
async function startServing(options: ServiceOptions = {}, ...flags: string[]) {
  const { url } = await startService(options);
  return { url, ...(await serve(configOf(url, ['a']), ...flags)) };
}

/** A service that does not reply. */
const HANGING: ServiceOptions = { faults: { '*': [NAMED_FAULTS.hang] } };

describe('loadCommand, printing', () => {
  it('prints the help of a command', async () => {
    expect(await resultOf(['list', '-h'])).toEqual({ code: 0, stdout: helpText('list'), stderr: '' });
  });

  it('prints the version', async () => {
    const stdout = 'telemetry-station-exporter, version 1.2.3 (revision: abc)\n  node version: v0.0.0\n';
    expect(await resultOf(['--version'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('reports every problem of the command line and refers to --help', async () => {
    const { code, stdout, stderr } = await resultOf(['--shard=x', 'fly']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^.*"fly".*\n--shard: .*\ntry --help\n$/);
  });
});

describe('loadCommand, serving', () => {
  it.each(['SIGTERM', 'SIGINT'])(
    'serves metrics of stations, build and process until %s, then closes its port',
    async (signal) => {
      const { signals, exit, port, scrape, output, file } = await startServing();
      expect(output().stderr).toContain(` msg="configuration loaded" config=${file} stations=1 upstreams=1\n`);
      expect(output().stderr).toContain(` address=127.0.0.1 port=${port} tls=false url=http://127.0.0.1:${port}/ `);
      const metrics = await scrape();
      expect(valuesOf(metrics, 'telemetry_station_up', 'station')).toEqual({ a: 1 });
      const labels = ['version', 'revision', 'node_version'];
      expect(valuesOf(metrics, 'telemetry_station_exporter_build_info', ...labels)).toEqual({ '1.2.3|abc|v0.0.0': 1 });
      expect([...metrics.keys()]).toEqual(
        expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds']),
      );
      signals.emit(signal);
      expect(await exit).toBe(0);
      expect(output().stderr).toContain(`msg="shutting down" signal=${signal}\n`);
      expect(output().stdout).toBe('');
      await expect(httpRequest(port, '/-/healthy')).rejects.toThrow('ECONNREFUSED');
    },
  );

  it('exits on a signal that arrives before it listens', async () => {
    const { url } = await startService();
    const { signals, exit } = run([configFlag(configOf(url, ['a'])), '--web.listen-address=127.0.0.1:0']);
    signals.once('newListener', (name) => setImmediate(() => signals.emit(name)));
    expect(await exit).toBe(0);
  });

  it('answers a scrape that waits for a slow station before it exits', async () => {
    const { signals, exit, scrape } = await startServing(HANGING);
    const waiting = scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' });
    // Requests are read in the order in which they are sent.
    await scrape('/metrics', SHORT_TIMEOUT);
    signals.emit('SIGTERM');
    expect(valuesOf(await waiting, 'telemetry_station_up', 'station')).toEqual({ a: 0 });
    expect(await exit).toBe(0);
  });

  it('reports an address that is in use, and closes the others', async () => {
    const { url } = await startService();
    const free = await closedPort();
    const taken = await listen(createServer());
    const addresses = [free, taken].map((port) => `--web.listen-address=127.0.0.1:${port}`);
    const { code, stderr } = await resultOf([configFlag(configOf(url, ['a'])), '--log.level=error', ...addresses]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^cannot listen on "127.0.0.1:${taken}": .*EADDRINUSE.*; --web.listen-address sets the address\n$`),
    );
    await expect(httpRequest(free, '/')).rejects.toThrow('ECONNREFUSED');
  });

  it('listens on every --web.listen-address, and logs a URL of this host for all interfaces', async () => {
    const { output } = await startServing({}, '--web.listen-address=0.0.0.0:0', '--web.listen-address=[::1]:0');
    await eventually(() => {
      expect(output().stderr).toMatch(/ address=0\.0\.0\.0 port=(\d+) tls=false url=http:\/\/localhost:\1\/ /);
      expect(output().stderr).toMatch(/ address=::1 port=(\d+) tls=false url=http:\/\/\[::1\]:\1\/ /);
    });
  });

  it('reloads its configuration on SIGHUP unless it is invalid, and not over HTTP unless enabled', async () => {
    const { url, signals, file, get, output, port, scrape } = await startServing();
    const station = async () => JSON.parse((await get('/sd')).body)[0].labels.__param_station;
    writeFileSync(file, stringify(configOf(url, ['b'])));
    expect((await httpRequest(port, '/-/reload', { method: 'POST' })).status).toBe(403);
    expect(await station()).toBe('a');
    signals.emit('SIGHUP');
    await eventually(async () => expect(await station()).toBe('b'));
    writeFileSync(file, 'surprise: 1\n');
    signals.emit('SIGHUP');
    await eventually(() => expect(output().stderr).toContain('level=error msg="configuration reload failed"'));
    expect(await station()).toBe('b');
    const successful = 'telemetry_station_exporter_config_last_reload_successful';
    expect(valuesOf(await scrape(), successful, 'config')).toEqual({ main: 0, web: 1 });
  });

  it('survives an internal error during a reload, and logs it', async () => {
    const { url } = await startService();
    const file = temporaryFile('config.yaml', stringify(configOf(url, ['a'])));
    const flags = ['--web.listen-address=127.0.0.1:0', '--web.enable-lifecycle'];
    const { signals, listening, output } = run([`--config.file=${file}`, ...flags], faultyEnvironment());
    const port = await listening();
    const internalErrors = () =>
      output().stderr.match(/level=error msg="internal error \(exporter bug\)" error="a bug"/g) ?? [];
    writeFileSync(file, stringify(configOf('${' + 'BROKEN}', ['a'])));
    expect(await httpRequest(port, '/-/reload', { method: 'POST' })).toMatchObject({
      status: 500,
      body: 'Internal error.\n',
    });
    expect(internalErrors()).toHaveLength(1);
    signals.emit('SIGHUP');
    await eventually(() => expect(internalErrors()).toHaveLength(2));
    expect((await httpRequest(port, '/metrics')).status).toBe(200);
  });
});

/** Simulates a bug: reading BROKEN throws. */
function faultyEnvironment(): Record<string, string> {
  return Object.defineProperty({}, 'BROKEN', {
    get: () => {
      throw new Error('a bug');
    },
  });
}

/** A scrape timeout so short that the scrape does not wait for a refresh. */
const SHORT_TIMEOUT = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.001' };

describe('loadCommand, with flags', () => {
  it('serves under the telemetry path and the external URL', async () => {
    const flags = ['--web.telemetry-path=/numbers', '--web.external-url=https://proxy.example/stations'];
    const { get, output } = await startServing({}, ...flags);
    expect(output().stderr).toContain(' url=https://proxy.example/stations ');
    expect((await get('/numbers')).status).toBe(200);
    expect((await get('/stations/numbers')).status).toBe(200);
    expect((await get('/metrics')).status).toBe(404);
    expect(JSON.parse((await get('/sd')).body)).toMatchObject([{ targets: ['proxy.example:443'] }]);
  });

  it('does not serve metrics under the path of another endpoint', async () => {
    const flags = [configFlag(configOf('http://127.0.0.1:1', ['a'])), '--web.telemetry-path=/probe'];
    const stderr = '--web.telemetry-path: /probe is another endpoint, expected another path\n';
    expect(await resultOf(flags)).toEqual({ code: 1, stdout: '', stderr });
  });

  it('answers scrapes beyond --web.max-requests at once', async () => {
    const { get, signals } = await startServing(HANGING, '--web.max-requests=1');
    const statuses: (number | undefined)[] = [];
    const scrape = async () =>
      statuses.push((await get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' })).status);
    const scrapes = [scrape(), scrape(), scrape()];
    await eventually(() => expect(statuses).toEqual([200, 200]));
    signals.emit('SIGTERM');
    await Promise.all(scrapes);
    expect(statuses).toEqual([200, 200, 200]);
  });

  it.each([
    ['--scrape.timeout=1ms', {}],
    ['--timeout-offset=1h', { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' }],
  ])('answers before the refresh ends with %s', async (flag, headers: Record<string, string>) => {
    const { scrape } = await startServing(HANGING, flag);
    const metrics = await scrape('/metrics', headers);
    expect(valuesOf(metrics, 'telemetry_station_up', 'station')).toEqual({ a: 0 });
    expect(valuesOf(metrics, 'telemetry_station_last_attempt_timestamp_seconds', 'station')).toEqual({});
  });

  it('logs with --log.format and --log.level', async () => {
    const { url } = await startService();
    const flags = ['--log.format=json', '--log.level=debug', '--web.listen-address=127.0.0.1:0'];
    const { output } = run([configFlag(configOf(url, ['a'])), ...flags]);
    await eventually(() => {
      expect(output().stderr).toMatch(/"level":"info","msg":"listening",.*"version":"1\.2\.3"\}\n/);
      expect(output().stderr).toContain('"level":"debug","msg":"refresh succeeded","station":"a","resources":3,');
    });
  });
});

describe('loadCommand, simulating', () => {
  it('serves the demo stations with --demo, and stops their service on exit', async () => {
    const { signals, exit, listening, output } = run(['--demo', '--web.listen-address=127.0.0.1:0']);
    const port = await listening();
    const names = demoStations.map(({ name }) => name);
    const all = parseExposition((await httpRequest(port, '/metrics', { headers: SHORT_TIMEOUT })).body);
    expect(Object.keys(valuesOf(all, 'telemetry_station_info', 'station')).toSorted()).toEqual(names.toSorted());
    const { upstreams, cache } = parse((await httpRequest(port, '/config')).body);
    // Otherwise the stations of a demo without Prometheus have no data after max_stale.
    expect(cache).toMatchObject({ refresh: 'background' });
    signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(output().stdout).toBe('');
    expect(output().stderr).toContain(` config=demo stations=${demoStations.length} upstreams=2\n`);
    expect(output().stderr).toContain('msg="demo is running, press Ctrl-C to stop it"\n');
    for (const { base_url } of Object.values<{ base_url: string }>(upstreams)) {
      await expect(httpRequest(Number(new URL(base_url).port), '/')).rejects.toThrow('ECONNREFUSED');
    }
  });

  it('reports a simulator port that is in use', async () => {
    const port = await listen(createServer());
    const { code, stdout, stderr } = await resultOf(['simulate', `--simulate.port=${port}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      new RegExp(`^cannot listen on port ${port}: .*EADDRINUSE.*; --simulate.port sets the port\n$`),
    );
  });
});

describe('readBuild', () => {
  it('reads the version from package.json and the revision from REVISION', () => {
    const file = temporaryFile('package.json', '{"name": "x", "version": "4.5.6"}');
    writeFileSync(join(dirname(file), 'REVISION'), 'abc123\n');
    const folder = pathToFileURL(`${dirname(file)}/`);
    expect(readBuild(folder, 'v20.0.0')).toEqual({ version: '4.5.6', revision: 'abc123', nodeVersion: 'v20.0.0' });
  });

  it('reports the revision of a checkout as unknown', () => {
    const { version, revision } = readBuild(new URL('../', import.meta.url), 'v20.0.0');
    expect({ version, revision }).toEqual({ version: packageJson.version, revision: 'unknown' });
  });
});
