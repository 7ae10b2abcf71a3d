import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { httpRequest } from '../web/http-client.ts';

const MIB = 1024 * 1024;
const RESOURCES = 20;

const timeout = (seconds: number) => ({ 'x-prometheus-scrape-timeout-seconds': String(seconds) });

describe('Exporter, over a service that hangs', () => {
  it('answers 1,000 probes and /metrics with complete data before their clients give up, in bounded memory', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `ts-${index}`);
    const service = await startTestService({ source: () => entriesOf(RESOURCES) });
    const config = configOf(service.url, names, { upstream: { timeout: '1m', refresh_timeout: '1m' } });
    // Scrapes wait for one second; the offset leaves the rest to the transfer, because server and clients share one process.
    const { url, log, scrape } = await startReadyExporter(config, { maxRequests: 40, timeoutOffsetMs: 39_000 });
    const resources = async (path: string) => {
      const options = { headers: { ...timeout(40), 'accept-encoding': 'gzip' }, signal: AbortSignal.timeout(40_000) };
      const { status, body } = await httpRequest(Number(new URL(url).port), path, options);
      expect([path, status]).toEqual([path, 200]);
      const text = gunzipSync(Buffer.from(body, 'latin1')).toString();
      return text.match(/^telemetry_station_resource_info\{/gm)?.length;
    };
    service.setFaults('*', [{ kind: 'hang' }]);
    const before = process.memoryUsage.rss();
    const probes = Array.from({ length: 1000 }, (_, index) => resources(`/probe?station=ts-${index % names.length}`));
    const [everything, ...each] = await Promise.all([resources('/metrics'), ...probes]);
    expect(everything).toBe(RESOURCES * names.length);
    expect(each).toEqual(Array(1000).fill(RESOURCES));
    const grown = process.memoryUsage.rss() - before;
    console.log(`1,000 waiting probes: ${Math.round(grown / MIB)} MiB more, both ends together`);
    expect(grown).toBeLessThan(256 * MIB);
    const limits = valuesOf(
      await scrape('/metrics', timeout(1)),
      'telemetry_station_exporter_web_limits_reached_total',
      'limit',
    );
    expect(limits['max_requests']).toBeGreaterThan(0);
    expect(log.filter((line) => line.includes('limit of the web server reached" limit=max_requests'))).not.toEqual([]);
  });
});
