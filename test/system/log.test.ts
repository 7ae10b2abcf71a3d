import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { replyWith } from '../../src/simulator/faults.ts';
import { scrapeOf, startProgram } from '../e2e/built-program.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { closedPort } from '../upstream/support/service.ts';
import { eventually, MINUTES } from '../web/eventually.ts';

async function configFile(stations: readonly string[]) {
  const service = await startTestService({ source: () => entriesOf(3) });
  return temporaryFile('config.yaml', stringify(configOf(service.url, stations)));
}

const droppedLines = async (url: string) =>
  Number(valuesOf(await scrapeOf(url), 'telemetry_station_exporter_log_lines_dropped_total')['']);

describe('the log on stderr', () => {
  it('may lose its reader: the program serves on, reloads and counts the lines', async () => {
    const file = await configFile(['a']);
    const { child, url, closed } = startProgram({ folder: dirname(file) }, '--web.listen-address=127.0.0.1:0');
    const base = await url();
    await once(child.stderr?.destroy() as Readable, 'close');
    for (let lines = 1; lines <= 3; lines += 1) {
      child.kill('SIGHUP');
      await eventually(async () => expect(await droppedLines(base)).toBe(lines));
    }
    expect(valuesOf(await scrapeOf(base), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
  });

  it('may be on a full disk', async () => {
    const file = await configFile(['a']);
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const port = await closedPort();
    const { child, closed } = startProgram(
      { folder: dirname(file), stderr: full },
      `--web.listen-address=127.0.0.1:${port}`,
    );
    const base = `http://127.0.0.1:${port}`;
    await eventually(async () => expect(await droppedLines(base)).toBeGreaterThan(0));
    const before = await droppedLines(base);
    writeFileSync(file, stringify({ surprise: true }));
    child.kill('SIGHUP');
    await eventually(async () => expect(await droppedLines(base)).toBeGreaterThan(before));
    expect(valuesOf(await scrapeOf(base), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
  });

  it('waits for a slow reader up to --log.buffer-size, then drops lines and reports how many, and keeps no program from ending', async () => {
    const file = await configFile(Array.from({ length: 100 }, (_, index) => `station-${index}`));
    const flags = ['--web.listen-address=127.0.0.1:0', '--log.level=debug', '--log.buffer-size=64KiB'];
    const { child, url, output } = startProgram({ folder: dirname(file) }, ...flags);
    const base = await url();
    // Each scrape refreshes every station, which logs a line; pipes hold some hundred kilobytes.
    const stall = async () => {
      const before = await droppedLines(base);
      child.stderr?.pause();
      await eventually(async () => expect(await droppedLines(base)).toBeGreaterThan(before), MINUTES);
    };
    await stall();
    child.stderr?.resume();
    await eventually(() => expect(output.stderr).toMatch(/level=warn msg="log lines dropped" lines=\d+\n/));
    for (const line of output.stderr.split('\n').slice(0, -1)) expect(line).toMatch(/^ts=\S+ level=\w+ msg=/);
    await stall();
    child.kill('SIGTERM');
    // Not `close`, for which its output would have to be read.
    expect(await once(child, 'exit')).toEqual([0, null]);
    child.stderr?.resume();
  });
});

describe('the log of a failing station', () => {
  it('has one warning for each reason, and the recovery, also after a reload', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const config = configOf(service.url, ['a', 'b']);
    const { scrape, log, exporter, rewrite } = await startReadyExporter(config);
    const failing = async (...codes: readonly number[]) => {
      for (const code of codes) {
        service.setFaults('a', [replyWith(code)]);
        await scrape();
      }
    };
    await failing(404, 404, 404, 403, 403);
    rewrite({ ...config, metrics: { per_resource: false } });
    expect(await exporter.reload()).toEqual([]);
    await failing(404, 404);
    service.setFaults('a', []);
    await scrape();
    const lines = log.filter((line) => !line.includes('level=debug') && line.includes('station=a'));
    expect(lines).toEqual([
      expect.stringMatching(/level=warn msg="refresh failed" station=a reason=not_found /),
      expect.stringMatching(/level=warn msg="refresh failed" station=a reason=forbidden .* attempts=4 outage_seconds=/),
      expect.stringMatching(/level=info msg="station recovered" station=a outage_seconds=\S+ attempts=7\n$/),
    ]);
  });
});
