import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, slow } from '../../src/simulator/faults.ts';
import { expectedState, ownOf, reasonCounts, stateOf } from '../e2e/station-metrics.ts';
import {
  configOf,
  entriesOf,
  type RunningExporter,
  startReadyExporter,
  startTestExporter,
  startTestService,
} from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('more work than the concurrency allows', () => {
  it('delays refreshes but fails none, although the queue is longer than refresh_timeout', async () => {
    const stations = namesOf('ts', 100);
    const service = await startTestService({
      source: () => entriesOf(25),
      faults: { '*': [slow(50)] },
    });
    // 100 stations of three pages, two at a time: 7.5 s at least, but 0.15 s for each of them.
    const limits = { concurrency: 2, refresh_timeout: '6s' };
    const exporter = await startTestExporter(
      configOf(service.url, stations, { upstream: limits, cache: { ttl: '1h', error_ttl: '1h' } }),
    );
    const during = await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '1' });
    expect(ownOf(during, 'refreshes_waiting')['{}']).toBeGreaterThan(0);
    expect(ownOf(during, 'oldest_waiting_refresh_seconds')['{}']).toBeGreaterThan(0);
    await eventually(async () => expect((await exporter.get('/-/ready')).status).toBe(200));
    const families = await exporter.scrape();
    for (const station of stations) expect(stateOf(families, station), station).toEqual(expectedState(undefined));
    expect(service.requests).toHaveLength(300);
    expect(ownOf(families, 'api_request_failures_total')).toEqual(reasonCounts({}));
    expect(ownOf(families, 'refreshes_waiting')).toEqual({ '{}': 0 });
  });
});

describe('stations that hang', () => {
  const hanging = namesOf('hang', 3);
  const healthy = namesOf('ok', 6);

  it('leave their slots to others, delay no scrape once known, and recover', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const limits = { concurrency: 4, timeout: '6s' };
    const exporter = await startReadyExporter(configOf(service.url, [...hanging, ...healthy], { upstream: limits }));
    for (const station of hanging) service.setFaults(station, [NAMED_FAULTS.hang]);
    const expectHealthy = (families: Awaited<ReturnType<RunningExporter['scrape']>>) => {
      for (const station of healthy) expect(stateOf(families, station), station).toEqual(expectedState(undefined));
    };
    await eventually(async () => {
      const families = await exporter.scrape();
      expectHealthy(families);
      expect(ownOf(families, 'hanging_stations')).toEqual({ '{}': 3 });
      for (const station of hanging) expect(stateOf(families, station)).toEqual(expectedState('timeout'));
    });
    const refreshing = () => hanging.filter((name) => exporter.exporter.station(name)?.status.isRefreshing);
    await eventually(() => expect(refreshing()).toEqual([]));
    service.clearRequests();
    expectHealthy(await exporter.scrape());
    // A scrape that waited for them would have waited for at least the first probe to time out.
    expect(refreshing()).toEqual(hanging);
    const requested = service.requests.map(({ station }) => station);
    expect(requested.filter((station) => station?.startsWith('ok')).toSorted()).toEqual(healthy);
    expect(requested.filter((station) => station?.startsWith('hang'))).toHaveLength(1);

    for (const station of hanging) service.setFaults(station, []);
    await eventually(async () => {
      const families = await exporter.scrape();
      for (const station of [...hanging, ...healthy])
        expect(stateOf(families, station)).toEqual(expectedState(undefined));
      expect(ownOf(families, 'hanging_stations')).toEqual({ '{}': 0 });
    });
  });
});
