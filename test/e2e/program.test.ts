import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { startProgram } from './built-program.ts';

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
});
