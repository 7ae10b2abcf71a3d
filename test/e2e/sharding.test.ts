import { describe, expect, it } from 'vitest';
import { type ParsedFamily, parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
import { httpRequest } from '../web/http-client.ts';
import { configFlag, resultOf, run, serve } from './running-program.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

const STATIONS = Array.from({ length: 60 }, (_, index) => `station-${index}`);

/** Stations have between one and four records. */
const startService = () =>
  startTestService({
    source: ({ telemetry_station: name }) => entriesOf(1 + (Number(name.slice(8)) % 4), `${name}-`),
  });

/** A pod of the StatefulSet after its first refreshes: its series, its stations and the stations it queried. */
async function runPod(service: SimulatedService, ordinal: number, total: number) {
  service.clearRequests();
  // A single refresh per station, so that only the sharding makes a difference.
  const config = configOf(service.url, STATIONS, { cache: { ttl: '1h', error_ttl: '1h' } });
  const flags = [configFlag(config), '--web.listen-address=127.0.0.1:0', '--shard=auto', `--total-shards=${total}`];
  const program = run(flags, {}, `telemetry-station-exporter-${ordinal}`);
  const { body } = await httpRequest(await program.listening(), '/metrics');
  const metrics = parseExposition(body);
  expect(valuesOf(metrics, 'telemetry_station_exporter_shard_ordinal')).toEqual({ '': ordinal });
  expect(valuesOf(metrics, 'telemetry_station_exporter_total_shards')).toEqual({ '': total });
  return {
    series: stationSeries(metrics),
    stations: Object.keys(valuesOf(metrics, 'telemetry_station_up', 'station')),
    queried: new Set(service.requests.map(({ station = '' }) => station)),
  };
}

/** Every series of the stations, without the values that depend on the time of the refresh. */
function stationSeries(metrics: ReadonlyMap<string, ParsedFamily>): readonly string[] {
  const samples = [...metrics.values()].flatMap((family) => family.samples).filter(({ labels }) => 'station' in labels);
  return samples.map(({ name, labels, value }) =>
    JSON.stringify([
      name,
      Object.entries(labels).toSorted(),
      /_last_\w+_timestamp_seconds$|_refresh_duration_seconds$/.test(name) || value,
    ]),
  );
}

const inOrder = (names: Iterable<string>) => [...names].toSorted();

async function runPods(service: SimulatedService, total: number) {
  const pods: Awaited<ReturnType<typeof runPod>>[] = [];
  for (let ordinal = 0; ordinal < total; ordinal += 1) pods.push(await runPod(service, ordinal, total));
  return pods;
}

describe('shards', () => {
  it('publish the series of a single exporter, query each station once, and move few to a further shard', async () => {
    const service = await startService();
    const { series } = await runPod(service, 0, 1);
    const [three, four] = [await runPods(service, 3), await runPods(service, 4)];
    expect(series.length).toBeGreaterThan(STATIONS.length * 10);
    expect(inOrder(three.flatMap((pod) => pod.series))).toEqual(inOrder(series));
    for (const { queried, stations } of three) expect(inOrder(queried)).toEqual(inOrder(stations));
    expect(inOrder(three.flatMap(({ queried }) => [...queried]))).toEqual(inOrder(STATIONS));
    const moved = three.flatMap(({ stations }, ordinal) =>
      stations.filter((name) => !four[ordinal]?.stations.includes(name)),
    );
    expect(moved.length).toBeLessThanOrEqual(STATIONS.length / 3);
    expect(inOrder(moved)).toEqual(inOrder(four[3]?.stations ?? []));
  });
});

describe('a pair of replicas', () => {
  it('queries the service only from the scraped replica', async () => {
    const service = await startService();
    const config = configOf(service.url, ['station-0']);
    const [scraped, spare] = [await serve(config), await serve(config)];
    for (const { get } of [scraped, spare])
      await eventually(async () => expect((await get('/-/ready')).status).toBe(200));
    await spare.scrape();
    service.clearRequests();
    for (let scrapes = 1; scrapes <= 3; scrapes += 1) {
      await scraped.scrape();
      expect(service.requests.length).toBe(scrapes);
    }
  });
});

describe('--shard=auto', () => {
  it('exits with an error for a host name without an ordinal', async () => {
    const { code, stderr } = await resultOf(['--demo', '--shard=auto'], {}, 'laptop');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^--shard=auto: expected a host name that ends in a number, .* got "laptop"\n$/);
  });
});
