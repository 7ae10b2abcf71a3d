import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { expectedData } from '../e2e/reference-model.ts';
import { dataOf, expectedState, ownOf, stateOf } from '../e2e/station-metrics.ts';
import {
  configOf,
  entriesOf,
  type RunningExporter,
  recordsOf,
  startReadyExporter,
  startTestService,
} from '../e2e/test-bed.ts';
import { first } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';

const own = async (exporter: RunningExporter, family: string) => ownOf(await exporter.scrape(), family)['{}'];

const logged = (exporter: RunningExporter, message: string) =>
  exporter.log.filter((line) => line.includes(`msg="${message}`));

describe('the request rate', () => {
  it('is unlimited without requests_per_second, else limited to it', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const free = await startReadyExporter(configOf(service.url, ['a']));
    expect(await own(free, 'api_rate_limit')).toBe(Number.POSITIVE_INFINITY);
    const bound = await startReadyExporter(configOf(service.url, ['a'], { upstream: { requests_per_second: 500 } }));
    expect(await own(bound, 'api_rate_limit')).toBe(500);
  });

  it('is lowered when requests are throttled again and again', async () => {
    const service = await startTestService({
      source: () => entriesOf(3),
      faults: { ts: [replyWith(429)] },
    });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream: { max_retries: 2 } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('rate_limited'));
    expect(ownOf(families, 'api_requests_throttled_total')['{}']).toBeGreaterThanOrEqual(3);
    await eventually(async () => expect(await own(exporter, 'api_rate_limit')).toBeLessThan(10));
  });

  it.each([429, 503])(
    'is zero until the time of a Retry-After with a %i: no station is requested, and none with data fails',
    async (code) => {
      const service = await startTestService({ source: () => entriesOf(3) });
      const exporter = await startReadyExporter(
        configOf(service.url, ['a', 'b'], { upstream: { refresh_timeout: '30s', max_retries: 2 } }),
      );
      service.setFaults('a', [replyWith(code, { 'retry-after': '200' })]);
      service.clearRequests();
      for (const station of ['a', 'b']) {
        const families = await exporter.scrape(`/probe?station=${station}`);
        expect(stateOf(families, station)).toEqual(expectedState(undefined));
        expect(families.get('telemetry_station_resource_info')?.samples).toHaveLength(3);
      }
      expect(service.requests.map(({ station }) => station)).toEqual(['a']);
      expect(logged(exporter, 'refresh postponed')).not.toEqual([]);
    },
  );
});

describe('the page size', () => {
  it('is halved for the rest of a refresh after a 413, without losing records', async () => {
    const service = await startTestService({
      source: () => entriesOf(60),
      faults: { ts: [{ ...replyWith(413), when: first(2) }] },
    });
    const upstream = { page_size: 100, concurrency: 100 };
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream, cache: { ttl: '1h' } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState(undefined));
    expect(dataOf(families)).toEqual(
      expectedData(recordsOf(entriesOf(60)), { complete: true, reported: 60, pages: 3 }),
    );
    expect(service.requests.map(({ offset, size }) => `${offset} ${size}`).toSorted()).toEqual([
      '0 100',
      '0 25',
      '0 50',
      '25 25',
      '50 25',
    ]);
    expect(ownOf(families, 'page_size_reductions_total')).toEqual({ '{}': 2 });
    expect(logged(exporter, 'page size reduced').map((line) => line.replace(/.* station=/, 'station='))).toEqual([
      'station=ts page_size=50\n',
      'station=ts page_size=25\n',
    ]);
  });
});
