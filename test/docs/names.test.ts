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
    const service = await startTestService({ source: () => entriesOf(3) });
    const { url, scrape } = await startTestExporter(configOf(service.url, ['a']));
    await scrape();
    // For a path as the documentation writes it.
    const status = async (path: string) => {
      const real = path.replace(/NAME|STATION/, 'a').replace('ID', 'r0');
      return (await fetch(new URL(real, url), { method: path === '/-/reload' ? 'POST' : 'GET' })).status;
    };
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
    { text: 'telemetry_station_gone', unknown: 'telemetry_station_gone' },
    {
      text: '`sum by (colour) (telemetry_station_up)`',
      unknown: 'sum by (colour) (telemetry_station_up): label colour',
    },
    {
      text: '```promql\ntelemetry_station_up{reason="auth"} == 0\n```',
      unknown: 'label reason of telemetry_station_up',
    },
    { text: 'TelemetryStationUp', unknown: 'TelemetryStationUp' },
    { text: '`simulate --simulate.sead=1`', unknown: '--simulate.sead' },
    { text: '```sh\nnode dist/main.js --config.fil=a\n```', unknown: '--config.fil' },
    { text: '`cache.refresh_by: scrape`', unknown: 'cache.refresh_by: scrape' },
    { text: '`src/main.js`', unknown: 'src/main.js' },
    { text: '`npm run tset`', unknown: 'npm run tset' },
    { text: '`decideRetry`', unknown: 'decideRetry' },
  ])('reports what does not exist in $text', ({ text, unknown }) => {
    expect(unknownIn(text)).toContain(unknown);
  });
});
