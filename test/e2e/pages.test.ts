import { describe, expect, it } from 'vitest';
import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { eventually } from '../web/eventually.ts';
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

  it('show a station with its resources and listing details, and on the status page', async () => {
    const { open } = await pagesOf(entriesOf(230));
    expect((await open('/')).text).toMatch(/\nts main · ts\nup\n230\n/);
    const { text, body } = await open('/stations/ts?sort=id&order=desc&search=R2');
    expect(text).toContain('Reported total230\n');
    expect(text).toContain('1–41 of 41');
    expect(body.match(/(?<=code">)r\d+/)?.[0]).toBe('r29');
  });

  it('show no station as up whose data has expired because it is not scraped', async () => {
    const { open } = await pagesOf(entriesOf(3), { cache: { ttl: '0s', max_stale: '0s' } });
    await eventually(async () =>
      expect((await open('/')).text).toMatch(/\nts main · ts\nno data: not scraped for .+\n/),
    );
    await eventually(async () =>
      expect((await open('/stations/ts')).text).toMatch(/\nStateno data: not scraped for .+\n/),
    );
  });
});

describe('POST /stations/NAME/refresh', () => {
  /** No refresh except on request. */
  const LONG_TTL = { ttl: '1h', error_ttl: '1h' };
  /** Waits for the outcome on a busy machine, too. */
  const PATIENT = { scrapeTimeoutMs: 60_000 };
  const post = async (url: string, name: string) => {
    const response = await fetch(`${url}/stations/${name}/refresh`, { method: 'POST' });
    return { status: response.status, body: await response.text() };
  };

  it('refreshes a failed station at once, although error_ttl has not passed', async () => {
    const service = await startTestService({
      source: () => entriesOf(3),
      faults: { a: [{ kind: 'status', code: 403 }] },
    });
    const { url, get, scrape } = await startReadyExporter(configOf(service.url, ['a'], { cache: LONG_TTL }), PATIENT);
    service.setFaults('a', []);
    service.clearRequests();
    const { status, body } = await post(url, 'a');
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { station: 'a', outcome: 'succeeded', resources: 3, failure_reason: null },
    ]);
    expect(service.requests).toHaveLength(1);
    expect(await (await get('/stations/a/history')).json()).toMatchObject([
      { outcome: 'succeeded' },
      { outcome: 'failed' },
    ]);
    expect(valuesOf(await scrape(), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
  });
});
