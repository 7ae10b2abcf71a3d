import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startTestExporter, startTestService } from '../e2e/test-bed.ts';
import { allPages, parseMarkdown } from './markdown.ts';
import { endpointsOf, unknownNames } from './names.ts';

const pages = allPages();

describe('the documentation', () => {
  it.each(pages)('names only existing metrics, alerts, flags, keys, scripts and files: $file', (page) => {
    expect(unknownNames(page)).toEqual([]);
  });

  it('names only existing endpoints', async () => {
    const status = await startAnswering();
    const named = new Set(pages.flatMap(endpointsOf));
    expect([...named]).toEqual(expect.arrayContaining(['/', '/metrics', '/probe?station=NAME', '/-/reload']));
    const answers = await Promise.all(Array.from(named, async (path) => [path, await status(path)] as const));
    const missing = answers.filter(([, code]) => code === 404).map(([path]) => path);
    expect(missing).toEqual([]);
  });
});

describe('unknownNames', () => {
  const unknownIn = (text: string) => unknownNames({ file: 'docs/a.md', folder: 'docs', ...parseMarkdown(text) });

  it.each([
    ['a metric', 'telemetry_station_gone', 'telemetry_station_gone'],
    [
      'a metric in a query',
      '`sum(telemetry_station_gone)`',
      'sum(telemetry_station_gone): metric telemetry_station_gone',
    ],
    ['a query', '`sum by (colour) (telemetry_station_up)`', 'sum by (colour) (telemetry_station_up): label colour'],
    [
      'a query in a block',
      '```promql\ntelemetry_station_up{reason="auth"} == 0\n```',
      'label reason of telemetry_station_up',
    ],
    ['an alert', 'TelemetryStationUp', 'TelemetryStationUp'],
    ['a flag', '`--web.listen`', '--web.listen'],
    ['a flag of a command', '`simulate --simulate.sead=1`', '--simulate.sead'],
    ['a flag in a command line', '```sh\nnode dist/main.js --config.fil=a\n```', '--config.fil'],
    ['a key', '`max_age`', 'max_age'],
    ['a key with its value', '`cache.refresh_by: scrape`', 'cache.refresh_by: scrape'],
    ['a path of keys', '`metrics.ttl`', 'metrics.ttl'],
    ['a file', '`src/main.js`', 'src/main.js'],
    ['a folder', '`src/gone`', 'src/gone'],
    ['a script', '`npm run tset`', 'npm run tset'],
    ['an identifier', '`decideRetry`', 'decideRetry'],
    ['a type', '`EncodingOptions`', 'EncodingOptions'],
  ])('reports %s that does not exist', (_, text, unknown) => {
    expect(unknownIn(text)).toContain(unknown);
  });

  it.each([
    'telemetry_station_listing_complete 0',
    '--total-shards=3 --shard=0',
    '--no-demo',
    'cache.refresh: background',
    'stations[].cache',
    'upstreams.<name>.timeout',
    'page.total',
    'not_found',
    'metrics.md',
    'src/model',
    'npm run bench -- scrape',
    'loadConfig',
    'RequestLimiter',
    '64 KiB',
    'KiB',
    'anything else',
  ])('accepts `%s`', (span) => {
    expect(unknownIn(`\`${span}\``)).toEqual([]);
  });
});

/** The status codes of a running exporter for paths as the documentation writes them. */
async function startAnswering(): Promise<(path: string) => Promise<number>> {
  const service = await startTestService({ source: () => entriesOf(3) });
  const exporter = await startTestExporter(configOf(service.url, ['a']));
  const metrics = await exporter.scrape();
  const id = metrics.get('telemetry_station_resource_info')?.samples[0]?.labels['resource_id'];
  expect(id).toBeDefined();
  return async (path) => {
    const real = path.replace(/NAME|STATION/, 'a').replace('ID', encodeURIComponent(`${id}`));
    const method = path === '/-/reload' ? 'POST' : 'GET';
    return (await fetch(new URL(real, exporter.url), { method })).status;
  };
}
