import { once } from 'node:events';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { scrapeOf, startProgram } from '../e2e/built-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';

/** The sample with the time of the latest reload. */
const latestReload = async (url: string) => {
  const text = await (await fetch(`${url}/-/metrics`)).text();
  return /^telemetry_station_exporter_config_last_reload_success_timestamp_seconds.*$/m.exec(text)?.[0];
};

describe('the log on stderr', () => {
  it('may lose its reader: the program serves on and reloads', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'])));
    const { child, url, closed } = startProgram({ folder: dirname(file) }, '--web.listen-address=127.0.0.1:0');
    const base = await url();
    await once(child.stderr?.destroy() as Readable, 'close');
    for (let reloads = 1; reloads <= 3; reloads += 1) {
      const reloadedBefore = await latestReload(base);
      child.kill('SIGHUP');
      await eventually(async () => expect(await latestReload(base)).not.toBe(reloadedBefore));
    }
    expect(valuesOf(await scrapeOf(base), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    child.kill('SIGTERM');
    expect(await closed).toEqual({ code: 0, signal: null });
  });
});
