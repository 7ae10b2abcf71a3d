import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faults.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { startService } from '../upstream/support/service.ts';

const MIB = 1024 * 1024;
const SECRET = 'attackers-want-this';

/** An exporter whose station `bad` meets the fault while its station `good` meets none. */
async function exporterFacing(fault: Fault, upstream: object = {}) {
  const service = await startTestService({ source: () => entriesOf(3), faults: { bad: [fault] } });
  const exporter = await startReadyExporter(configOf(service.url, ['bad', 'good'], { upstream }));
  return { service, exporter };
}

describe('Exporter, over a hostile service', () => {
  let bomb: Buffer;

  beforeAll(() => {
    bomb = gzipSync(Buffer.alloc(192 * MIB), { level: 1 });
  });

  it.each([200, 500])('does not decompress a gzip bomb with status %i', async (code) => {
    const service = await startService((_request, response) =>
      response.writeHead(code, { 'Content-Encoding': 'gzip' }).end(bomb),
    );
    const exporter = await startReadyExporter(configOf(service.url.href, ['ts']));
    const before = process.memoryUsage.rss();
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState(code === 200 ? 'body' : 'status'));
    expect(process.memoryUsage.rss() - before).toBeLessThan(128 * MIB);
  });

  it.each([301, 302, 303, 307, 308])(
    'does not follow a %i to another host, which sees neither credential nor request',
    async (code) => {
      const attacker = await startService((_request, response) => response.end('{"resources":[]}'));
      const headers = {
        location: `${attacker.url}steal`,
        refresh: `0; url=${attacker.url}`,
        link: `<${attacker.url}>; rel=preload`,
      };
      const { service, exporter } = await exporterFacing(
        { kind: 'status', code, headers },
        { authorization: { credentials: SECRET }, http_headers: { 'X-Key': { secrets: [SECRET] } }, max_retries: 2 },
      );
      const families = await exporter.scrape();
      expect(stateOf(families, 'bad')).toEqual(expectedState('status'));
      expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
      expect(service.requests[0]?.headers['authorization']).toBe(`Bearer ${SECRET}`);
      expect(attacker.requests).toEqual([]);
    },
  );

  it('fails on or skips JSON nested 100,000 levels deep', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const nested = [
      `${deep}`,
      `{"resources":${deep}}`,
      `{"resources":[{"resource_id":"a","state":${deep}}],"page":{"total":1}}`,
    ];
    for (const text of nested) {
      const { exporter } = await exporterFacing({ kind: 'status', code: 200, body: Buffer.from(text) });
      const families = await exporter.scrape();
      expect([expectedState('body'), expectedState(undefined)]).toContainEqual(stateOf(families, 'bad'));
      expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
    }
  });

  it('truncates a label value of 10 MB to 1,024 bytes', async () => {
    const endless = 'x'.repeat(10_000_000);
    const value = { resources: [wireRecord('a', { display_name: endless })], page: { total: 1 } };
    const { exporter } = await exporterFacing({ kind: 'status', code: 200, body: JSON.stringify(value) });
    const families = await exporter.scrape();
    expect(stateOf(families, 'bad')).toEqual(expectedState(undefined));
    expect(valuesOf(families, 'telemetry_station_resource_info', 'station', 'display_name')).toMatchObject({
      [`bad|${'x'.repeat(1024)}`]: 1,
    });
  });

  it('ignores a Retry-After beyond its refresh, and keeps serving other accounts', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    service.setFaults('bad', [{ kind: 'status', code: 503, retryAfter: '9'.repeat(300) }]);
    const { upstreams, stations, cache } = configOf(service.url, ['bad', 'good'], { upstream: { max_retries: 5 } });
    const exporter = await startReadyExporter({
      upstreams: { bad: upstreams.main, good: { ...upstreams.main } },
      stations: stations.map((station) => ({ ...station, upstream: station.telemetry_station })),
      cache,
    });
    const families = await exporter.scrape();
    expect(stateOf(families, 'bad').up).toBe(0);
    expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
  });

  it('publishes a bounded number of series while types, states, models and units change with every refresh', async () => {
    const service = await startTestService();
    const change = (refresh: number) =>
      service.setRecords(
        'ts',
        Array.from({ length: 200 }, (_, index) => {
          const unique = `${refresh}-${index}`;
          return {
            record: wireRecord(`r${index}`, {
              resource_type: { key: index < 100 ? 'type' : `type-${unique}`, label: `Type ${unique}` },
              state: `state-${unique}`,
              gpu_model: `model-${unique}`,
              sku: `1 unit-${unique}`,
            }),
          };
        }),
      );
    change(0);
    const config = configOf(service.url, ['ts'], { upstream: { page_size: 100 }, metrics: { per_resource: false } });
    const exporter = await startReadyExporter({ ...config, limits: { label_values: 10 } });
    const series: number[] = [];
    for (let refresh = 1; refresh <= 20; refresh += 1) {
      change(refresh);
      series.push(
        [...(await exporter.scrape('/probe?station=ts')).values()].reduce(
          (sum, { samples }) => sum + samples.length,
          0,
        ),
      );
    }
    // Ten values of each label, a hundred combinations of two, and (other) beside them.
    expect(Math.max(...series)).toBeLessThan(500);
    const families = await exporter.scrape('/probe?station=ts');
    const sum = (name: string) =>
      families.get(`telemetry_station_${name}`)?.samples.reduce((total, { value }) => total + value, 0);
    expect([sum('resources'), sum('sku_quantity')]).toEqual([200, 200]);
    expect([sum('resources_added_total'), sum('resources_removed_total'), sum('resource_state_changes_total')]).toEqual(
      [2000, 2000, 2000],
    );
    expect(valuesOf(families, 'telemetry_station_resources_folded', 'label')).toEqual({
      ...{ resource_type: 100, state: 200, gpu_model: 200, unit: 200 },
    });
    expect(
      exporter.log.filter((line) => line.includes('level=warn') && line.includes('label has too many values')),
    ).toHaveLength(4);
  });
});
