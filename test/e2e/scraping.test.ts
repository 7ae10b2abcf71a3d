import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { first } from '../simulator/simulated-service.ts';
import { dataOf, expectedState, stateOf } from './station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

describe('Exporter, scraped', () => {
  it('publishes the records of the service, without what cannot be read', async () => {
    const odd = { state: 7, alert_rules_count: 'many', sku: 'large', create_time: 'soon', gpu_model: null };
    const records = [wireRecord('a'), wireRecord('b', odd), { name: 'without an ID' }];
    const service = await startTestService({ source: () => records.map((record) => ({ record })) });
    const { get } = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' } }));
    const lines = (await (await get('/probe?station=ts')).text()).split('\n');
    // Samples of 0 show nothing of the records.
    const published = lines.filter((line) => /^telemetry_station_(resource|alert|sku|listing).* [^0]\S*$/.test(line));
    expect(published.join('\n')).toBe(`telemetry_station_listing_incomplete{station="ts",reason="rejected_records"} 1
telemetry_station_listing_reported_resources{station="ts"} 3
telemetry_station_listing_pages{station="ts"} 1
telemetry_station_listing_rejected_resources{station="ts"} 1
telemetry_station_listing_invalid_fields{station="ts",field="create_time"} 1
telemetry_station_listing_invalid_fields{station="ts",field="alert_rules_count"} 1
telemetry_station_resources{station="ts",resource_type="resource_type.compute.x",product="",state="ALERTSTATE_INACTIVE",alert_state="inactive"} 1
telemetry_station_resources{station="ts",resource_type="resource_type.compute.x",product="",state="7",alert_state="unknown"} 1
telemetry_station_alert_rules{station="ts",resource_type="resource_type.compute.x",product=""} 1
telemetry_station_resources_with_alert_rules{station="ts",resource_type="resource_type.compute.x",product=""} 1
telemetry_station_resources_with_unknown_alert_coverage{station="ts",resource_type="resource_type.compute.x",product=""} 1
telemetry_station_sku_quantity{station="ts",resource_type="resource_type.compute.x",product="",gpu_model="N4lS",unit="GPU"} 2
telemetry_station_resource_type_info{station="ts",resource_type="resource_type.compute.x",resource_type_label="Compute"} 1
telemetry_station_resource_info{station="ts",resource_id="a",name="name-a",display_name="Display a",resource_type="resource_type.compute.x",product="",sku="2 GPU",gpu_model="N4lS",alertable=""} 1
telemetry_station_resource_info{station="ts",resource_id="b",name="name-b",display_name="Display b",resource_type="resource_type.compute.x",product="",sku="large",gpu_model="",alertable=""} 1
telemetry_station_resource_state{station="ts",resource_id="a",name="name-a",state="ALERTSTATE_INACTIVE",alert_state="inactive"} 1
telemetry_station_resource_state{station="ts",resource_id="b",name="name-b",state="7",alert_state="unknown"} 1
telemetry_station_resource_alert_rules{station="ts",resource_id="a",name="name-a"} 1
telemetry_station_resource_created_timestamp_seconds{station="ts",resource_id="a",name="name-a"} 1714564800
telemetry_station_resource_sku_quantity{station="ts",resource_id="a",name="name-a",unit="GPU"} 2`);
  });
});

describe('Exporter, scraped concurrently', () => {
  it('refreshes a stale station once for all scrapes', async () => {
    const service = await startTestService({ source: () => entriesOf(25), faults: { ts: [replyWith(500)] } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' } }));
    expect(dataOf(await exporter.scrape())).toEqual({});
    service.setFaults('ts', []);
    service.clearRequests();
    const scrapes = await Promise.all(Array.from({ length: 20 }, () => exporter.scrape()));
    for (const families of scrapes) {
      expect(stateOf(families)).toEqual(expectedState(undefined));
      expect(valuesOf(families, 'telemetry_station_resources', 'station')).toEqual({ ts: 25 });
    }
    expect(service.requests.map(({ offset }) => offset).toSorted()).toEqual([0, 10, 20]);
  });
});

describe('Exporter, within the limits of an upstream', () => {
  it('answers a scrape that meets a Retry-After beyond its deadline at once, and the scrapes after it', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const { upstreams, stations, ...config } = configOf(service.url, ['held', 'other']);
    const [held, other] = stations;
    const exporter = await startReadyExporter({
      ...config,
      upstreams: { main: upstreams.main, throttled: { ...upstreams.main, max_retries: 2 } },
      stations: [
        { ...held, upstream: 'throttled' },
        { ...other, upstream: 'main' },
      ],
    });
    service.setFaults('held', [{ ...replyWith(429, { 'retry-after': '240' }), when: first(1) }]);
    service.setRecords('other', entriesOf(5));
    for (let scrapes = 0; scrapes < 3; scrapes += 1) {
      const families = await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '200' });
      // Its refresh goes on: it waits for the end of the hold.
      expect(exporter.exporter.stations()[0]).toMatchObject({ name: 'held', isRefreshing: true });
      expect(stateOf(families, 'held')).toEqual(expectedState(undefined));
      expect(valuesOf(families, 'telemetry_station_resources', 'station')).toEqual({ held: 3, other: 5 });
    }
  });
});
