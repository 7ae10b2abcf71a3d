import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

const PRODUCTS = ['product.a', 'product.b'];

const entry = (id: string, product: string, alertable: boolean) => ({ record: wireRecord(id), product, alertable });

/** An exporter after its first refresh of a station with kept listings: each scrape refreshes it. */
async function started() {
  const service = await startTestService();
  const entries = [entry('r0', 'product.a', true), entry('r1', 'product.b', false)];
  service.setRecords('a', entries);
  const kept = { products: PRODUCTS, alertability: true, products_ttl: '10m', alertability_ttl: '1h' };
  const configWith = (station: object = {}) => configOf(service.url, ['a'], { station: { ...kept, ...station } });
  const exporter = await startReadyExporter(configWith());
  /** Which listings a scrape requests, and what it has of each resource. */
  const scrape = async () => {
    service.clearRequests();
    const metrics = await exporter.scrape();
    const info = metrics.get('telemetry_station_resource_info')?.samples ?? [];
    return {
      listings: service.requests.map(({ target }) => {
        const { searchParams } = new URL(target, service.url);
        return searchParams.get('product') ?? (searchParams.has('enabled_alert') ? 'alertable' : 'main');
      }),
      resources: info.map(({ labels }) => `${labels['resource_id']} ${labels['product']} ${labels['alertable']}`),
      complete: valuesOf(metrics, 'telemetry_station_listing_complete', 'station'),
      up: valuesOf(metrics, 'telemetry_station_up', 'station'),
    };
  };
  const reload = async (station: object) => {
    exporter.rewrite(configWith(station));
    expect((await fetch(`${exporter.url}/-/reload`, { method: 'POST' })).status).toBe(200);
  };
  return { ...exporter, service, entries, scrape, reload };
}

const KNOWN = ['r0 product.a true', 'r1 product.b false'];
const EVERYTHING = ['main', 'alertable', ...PRODUCTS];

describe('products_ttl and alertability_ttl', () => {
  it('request the main listing alone, until a new resource makes the others due in the refresh that lists it', async () => {
    const { service, entries, scrape } = await started();
    expect(await scrape()).toMatchObject({ listings: ['main'], resources: KNOWN, complete: { a: 1 } });
    service.setRecords('a', [...entries, entry('r2', 'product.b', true)]);
    const { listings, ...published } = await scrape();
    expect(published).toEqual({ resources: [...KNOWN, 'r2 product.b true'], complete: { a: 1 }, up: { a: 1 } });
    expect(listings[0]).toBe('main');
    expect(listings.toSorted()).toEqual(EVERYTHING.toSorted());
    expect((await scrape()).listings).toEqual(['main']);
  });

  it('publish a new resource without what cannot be listed, and as incomplete', async () => {
    const { service, entries, scrape, get } = await started();
    service.setRecords('a', [...entries, entry('r2', 'product.b', true)]);
    service.setFaults('a', [{ ...replyWith(403), when: ({ filters }) => filters.enabled_alert !== undefined }]);
    const { resources, complete, up } = await scrape();
    expect({ resources, complete, up }).toEqual({
      resources: [...KNOWN, 'r2 product.b '],
      complete: { a: 0 },
      up: { a: 1 },
    });
    expect(await (await get('/stations/a', { accept: 'text/html' })).text()).toMatch(
      /alertable resources: read <time[^>]*>[^<]*<\/time>, <span class="no">then failed<\/span>: .*403/,
    );
    service.setFaults('a', []);
    expect((await scrape()).resources).toEqual([...KNOWN, 'r2 product.b true']);
  });

  it('keep their listings when a reload changes the ttl, and list everything when it changes the products', async () => {
    const { scrape, reload } = await started();
    await reload({ products_ttl: '20m' });
    expect(await scrape()).toMatchObject({ listings: ['main'], resources: KNOWN });
    await reload({ alertability_ttl: '0s' });
    const { listings, resources } = await scrape();
    expect(listings.toSorted()).toEqual(['alertable', 'main']);
    expect(resources).toEqual(KNOWN);
    await reload({ products: ['product.b'] });
    expect((await scrape()).resources).toEqual(['r0  true', 'r1 product.b false']);
  });
});
