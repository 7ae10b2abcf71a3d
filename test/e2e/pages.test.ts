import { describe, expect, it } from 'vitest';
import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

const STRANGE = '/a/../b?c#d%2F "<script>" 资源';

async function pagesOf(entries: readonly SourceEntry[], changes: Parameters<typeof configOf>[2] = {}) {
  const service = await startTestService({ source: () => entries });
  const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' }, ...changes }));
  const open = async (path: string) => {
    const response = await exporter.get(path);
    const body = await response.text();
    return { status: response.status, body, text: parseHtml(body).text };
  };
  return { exporter, open };
}

describe('the pages of a running exporter', () => {
  it('explain a resource by exactly the series that /metrics has of it', async () => {
    const entries = [...entriesOf(23), { record: wireRecord(STRANGE, { state: ['odd'], display_name: '<b>"\n' }) }];
    const { exporter, open } = await pagesOf(entries);
    const metrics = await (await exporter.get('/metrics')).text();
    const { status, text } = await open(`/stations/ts/resources/${encodeURIComponent(STRANGE)}`);
    expect(status).toBe(200);
    const lines = metrics.split('\n').filter((line) => line.includes('/a/../b?c'));
    expect(lines).toHaveLength(4);
    expect(text).toContain(`What it publishes\n${lines.join('\n')}\n`);
    expect(text).toContain('at offset 23 of the station’s listing');
    expect(text).toContain('the one that begins at offset 20, in it record 4');
    expect(text).toContain('Invalid fieldsstate ');
  });

  it('say why a resource publishes nothing', async () => {
    const withheld = await pagesOf(entriesOf(23), { metrics: { max_resources: 10 } });
    expect((await withheld.open('/stations/ts/resources/r1')).text).toContain(
      'the station has 23 resources, more than metrics.max_resources',
    );
    const off = await pagesOf(entriesOf(3), { metrics: { per_resource: false } });
    expect((await off.open('/stations/ts/resources/r1')).text).toContain('Nothing: series of single resources are switched off');
  });

  it('show a station with its resources, its story and its place on the status page', async () => {
    const { open } = await pagesOf(entriesOf(230));
    expect((await open('/')).text).toMatch(/\nts main · ts\nup\n230\n/);
    const { text, body } = await open('/stations/ts?sort=id&order=desc&search=R2');
    expect(text).toContain('Total reported230\n');
    expect(text).toContain('1–41 of 41');
    expect(body.match(/<span class="sub code">r\d+/g)?.[0]).toBe('<span class="sub code">r29');
  });

  it('answer of what is not there', async () => {
    const { open } = await pagesOf(entriesOf(3));
    expect((await open('/stations/other')).status).toBe(404);
    const { status, text } = await open('/stations/ts/resources/other');
    expect(status).toBe(404);
    expect(text).toContain('The station’s snapshot has no resource of that id.');
  });
});
