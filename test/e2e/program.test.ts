import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { scrapeOf, startProgram } from './built-program.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

describe('telemetry-station-exporter', () => {
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
});
