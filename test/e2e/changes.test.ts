import { describe, expect, it } from 'vitest';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from './test-bed.ts';

describe('the changes of a station', () => {
  it('are on its page with the time of the first one, and a large loss is announced', async () => {
    const service = await startTestService({ source: () => entriesOf(20) });
    const { scrape, get } = await startReadyExporter(configOf(service.url, ['ts']));
    const pageWith = async (resources: number) => {
      service.setRecords('ts', entriesOf(resources));
      await scrape();
      return parseHtml(await (await get('/stations/ts')).text()).text;
    };
    expect(await pageWith(25)).toContain('Resources25+5 since ');
    expect(await pageWith(24)).toContain('Resources24−1 +5 since ');
    expect(await pageWith(5)).toContain('20 of 25 resources are gone since ');
  });

  it('are bounded when all resources change, and counted completely: on the page, in JSON, history, log and metrics', async () => {
    const service = await startTestService({ source: () => [] });
    const config = { ...configOf(service.url, ['ts']), limits: { changes_per_station: 100 } };
    const { scrape, get, log } = await startReadyExporter(config, { logChanges: true });
    service.setRecords('ts', entriesOf(250));
    await scrape();
    const { changes, dropped } = await (await get('/stations/ts/changes?format=json')).json();
    expect([changes.length, dropped]).toEqual([100, 150]);
    const page = await (await get('/stations/ts/changes', { Accept: 'text/html' })).text();
    expect(parseHtml(page).text).toMatch(/100 changes are kept\. 150 more were dropped/);
    const [latest] = await (await get('/stations/ts/history?format=json')).json();
    expect(latest).toMatchObject({ resources: 250, resources_added: 250 });
    expect(log.filter((line) => line.includes('msg="resource changed"'))).toHaveLength(100);
    expect(log.filter((line) => /msg="further changes not logged" station=ts changes=150\n/.test(line))).toHaveLength(
      1,
    );
    // What a refresh counts for a new series is published by the next one.
    expect(valuesOf(await scrape(), 'telemetry_station_resources_added_total', 'station')).toEqual({ ts: 250 });
  });
});
