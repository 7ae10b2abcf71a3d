import { describe, expect, it } from 'vitest';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from './test-bed.ts';

describe('the pages of a running exporter', () => {
  it('show no station as up whose data has expired because it is not scraped', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const { get } = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '0s', max_stale: '0s' } }));
    const textOf = async (path: string) => parseHtml(await (await get(path)).text()).text;
    await eventually(async () => expect(await textOf('/')).toMatch(/\nts main · ts\nno data: not scraped for .+\n/));
    const station = await textOf('/stations/ts');
    expect(station).toMatch(/\nno data; not scraped since .+\n/);
  });
});
