import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { configOf, wireRecord } from '../e2e/test-bed.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { startService } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { httpRequest } from '../web/http-client.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

beforeAll(() => {
  if (!existsSync(main))
    throw new Error('dist/main.js is missing: these tests run the built program, so run `npm run build` first');
});

/** Scrapes need not wait for the refreshes that they start. */
const NO_WAIT = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' };

/** The built program with a heap of so many MiB. */
async function startProgram(heapMib: number, config: object) {
  const file = temporaryFile('config.yaml', stringify(config));
  const flags = [`--max-old-space-size=${heapMib}`, main, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = once(child, 'exit').then(() => stderr);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const port = await eventually(() => {
    const [, found] = /msg=listening .*port=(\d+)/.exec(stderr) ?? [];
    expect(found, stderr).toBeDefined();
    return Number(found);
  });
  return {
    scrape: async () => {
      expect(child.exitCode ?? child.signalCode, stderr.slice(-2000)).toBeNull();
      return parseExposition((await httpRequest(port, '/metrics', { headers: NO_WAIT })).body);
    },
  };
}

type Page = (offset: number) => string;

const recordsOf = (count: number, record: (index: number) => object) =>
  `{"resources":[${Array.from({ length: count }, (_, index) => JSON.stringify(record(index))).join(',')}]}`;

/** Pages that have no end or are much larger in memory than on the wire. */
const BOMBS: Readonly<Record<string, Page>> = {
  'a listing without end': (offset) => recordsOf(1000, (index) => wireRecord(`id-${offset + index}`)),
  'a listing without end of long texts': (offset) =>
    recordsOf(500, (index) => {
      const text = `${offset + index} `.padEnd(1000, 'x');
      return wireRecord(text, {
        name: text,
        display_name: text,
        state: text,
        sku: text,
        gpu_model: text,
        resource_type: { key: text },
      });
    }),
  'pages of hundreds of thousands of ids': (offset) =>
    recordsOf(500_000, (index) => ({ resource_id: `${offset + index}` })),
  'arrays in arrays': () => `{"resources":[[${'[],'.repeat(4_000_000)}1]]}`,
};

describe('telemetry-station-exporter with a small heap', () => {
  it.each(Object.keys(BOMBS))('survives %s, and other stations stay fresh', async (name) => {
    const good = recordsOf(3, (index) => wireRecord(`r${index}`));
    const pages = new Map<number, string>();
    const bomb = (offset: number) => {
      const page = pages.get(offset) ?? (BOMBS[name] as Page)(offset);
      pages.set(offset, page);
      return page;
    };
    const service = await startService((request, response) => {
      const { pathname, searchParams } = new URL(`${request.url}`, 'http://service');
      response.end(pathname.includes('/good') ? good : bomb(Number(searchParams.get('page.offset'))));
    });
    const { scrape } = await startProgram(
      64,
      configOf(`${service.url}`, ['bomb-1', 'bomb-2', 'good-1', 'good-2'], {
        upstream: { page_size: 1000, timeout: '60s' },
        cache: { ttl: '100ms', error_ttl: '100ms' },
      }),
    );
    const times = async (family: string) =>
      valuesOf(await scrape(), `telemetry_station_last_${family}_timestamp_seconds`, 'station');
    await eventually(async () => {
      const failures = valuesOf(await scrape(), 'telemetry_station_failure', 'station', 'reason');
      expect(failures).toMatchObject({ 'bomb-1|body': 1, 'bomb-2|body': 1, 'good-1|body': 0, 'good-2|body': 0 });
    });
    const before = await times('attempt');
    await eventually(async () => {
      const [attempts, successes] = [await times('attempt'), await times('success')];
      for (const bomb of ['bomb-1', 'bomb-2']) expect(attempts[bomb]).toBeGreaterThan(before[bomb] ?? 0);
      for (const good of ['good-1', 'good-2']) expect(successes[good]).toBeGreaterThan(before[good] ?? 0);
    });
  });
});
