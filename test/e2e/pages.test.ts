import { describe, expect, it } from 'vitest';
import type { SourceEntry } from '../../src/simulator/listing.ts';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

const STRANGE = '/a/../b?c#d%2F "<script>" 资源';

async function pagesOf(entries: readonly SourceEntry[], changes: Parameters<typeof configOf>[2] = {}) {
  const service = await startTestService({ source: () => entries });
  const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' }, ...changes }));
  const open = async (path: string) => {
    const response = await exporter.get(path);
    return { status: response.status, text: parseHtml(await response.text()).text };
  };
  return { exporter, open };
}

describe('the pages of a running exporter', () => {
  it('show exactly the series of a resource that /metrics contains', async () => {
    const entries = [...entriesOf(23), { record: wireRecord(STRANGE, { state: ['odd'], display_name: '<b>"\n' }) }];
    const { exporter, open } = await pagesOf(entries);
    const metrics = await (await exporter.get('/metrics')).text();
    const { status, text } = await open(`/stations/ts/resources/${encodeURIComponent(STRANGE)}`);
    expect(status).toBe(200);
    const lines = metrics.split('\n').filter((line) => line.includes('/a/../b?c'));
    expect(lines).toHaveLength(4);
    expect(text).toContain(`Series\n${lines.join('\n')}\n`);
    expect(text).toContain('23 in the station’s listing');
    expect(text).toContain('record 4 of the page at offset 20');
    expect(text).toContain('Invalid fieldsstate ');
  });

  it('show no station as up whose data has expired because it is not scraped', async () => {
    const { open } = await pagesOf(entriesOf(3), { cache: { ttl: '0s', max_stale: '0s' } });
    await eventually(async () =>
      expect((await open('/')).text).toMatch(/\nts main · ts\nno data: not scraped for .+\n/),
    );
    await eventually(async () =>
      expect((await open('/stations/ts')).text).toMatch(/\nno data; not scraped since .+\n/),
    );
  });
});
