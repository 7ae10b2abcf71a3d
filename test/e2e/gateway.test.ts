import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import { checkLive } from '../commands/check-live.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from './test-bed.ts';

/** Replies of a gRPC service behind grpc-gateway: 13 resources, with protojson's options in the name. */
const replyOf = (name: string) => readFileSync(new URL(`../service/gateway/${name}.json`, import.meta.url));

/** What is published of a station whose service sends this reply to every request. */
async function publishedOf(reply: Uint8Array, upstream: object = {}) {
  const service = await startTestService({ faults: { '*': [replyWith(200, {}, reply)] } });
  const config = configOf(service.url, ['n13'], { cache: { ttl: '1h' }, upstream: { page_size: 100, ...upstream } });
  const { scrape, get } = await startReadyExporter(config);
  const families = [...(await scrape())].filter(([name]) => name.startsWith('telemetry_station_'));
  const data = families.filter(([name]) => !/exporter|timestamp_seconds|duration_seconds/.test(name));
  const [status] = await (await get('/?format=json')).json();
  return { families: new Map(data), status };
}

describe('a reply of a gateway', () => {
  it.each(['default-13', 'int64-13'])('publishes the same with other options: %s', async (name) => {
    const usual = await publishedOf(replyOf('snake-13'));
    expect(usual.status).toMatchObject({ state: 'up', resources: 13, firing_resources: 1, listing_complete: true });
    const other = await publishedOf(replyOf(name));
    expect(other.families).toEqual(usual.families);
  });

  it('publishes the same without zeros, if absent_fields says what they are', async () => {
    const usual = await publishedOf(replyOf('snake-13'));
    const absent_fields = { alert_rules_count: 0, state: 'ALERTSTATE_UNSPECIFIED' };
    const other = await publishedOf(replyOf('snake-omit-13'), { absent_fields });
    expect(other.families).toEqual(usual.families);
    expect(other.status).toMatchObject({ resources_without_alert_rules: 5, alert_coverage: 8 / 13 });
  });

  it.each(['snake-empty', 'snake-omit-empty'])('is an empty station: %s', async (name) => {
    const { status } = await publishedOf(replyOf(name));
    expect(status).toMatchObject({ state: 'up', resources: 0, listing_complete: true });
  });
});

describe('a list that is left out because it is empty', () => {
  it('removes the resources of a station that was emptied', async () => {
    const service = await startTestService({
      source: () => entriesOf(25),
      faults: { '*': [NAMED_FAULTS.omitted_zeros] },
    });
    const { scrape, get } = await startReadyExporter(configOf(service.url, ['ts']));
    const statusOf = async () => {
      await scrape();
      return (await (await get('/?format=json')).json())[0];
    };
    expect(await statusOf()).toMatchObject({ state: 'up', resources: 25 });
    service.setRecords('ts', []);
    expect(await statusOf()).toMatchObject({ state: 'up', resources: 0, listing_complete: true });
  });

  it('ends a listing without totals, and is a product without resources', async () => {
    const entries = entriesOf(25).map((entry) => ({ ...entry, product: 'product.a' }));
    const withoutTotal = { body: ({ page }: { readonly page?: unknown }) => ({ page: { ...Object(page), total: 0 } }) };
    const service = await startTestService({
      source: () => entries,
      faults: { '*': [withoutTotal, NAMED_FAULTS.omitted_zeros] },
    });
    const station = { products: ['product.a', 'product.none'] };
    const { get } = await startReadyExporter(configOf(service.url, ['ts'], { station }));
    const [status] = await (await get('/?format=json')).json();
    expect(status).toMatchObject({ state: 'up', resources: 25, listing_complete: true });
  });
});

describe('check --live', () => {
  it('names the fields of an object that is no listing', async () => {
    const reply = Buffer.from('{"result":{"resources":[]}}');
    const service = await startTestService({ faults: { '*': [replyWith(200, {}, reply)] } });
    const { stdout } = await checkLive(configOf(service.url, ['ts']));
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('with a field "resources"; it has "result"');
  });
});
