import { describe, expect, it } from 'vitest';
import { type ParsedFamily, parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { httpRequest } from '../web/http-client.ts';
import { configFlag, run } from './running-program.ts';
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

describe('shards', () => {
  it('publish the series of a single exporter, and query each station once', async () => {
    const service = await startService();
    const { series } = await runPod(service, 0, 1);
    const three = [await runPod(service, 0, 3), await runPod(service, 1, 3), await runPod(service, 2, 3)];
    expect(series.length).toBeGreaterThan(STATIONS.length * 10);
    expect(inOrder(three.flatMap((pod) => pod.series))).toEqual(inOrder(series));
    for (const { queried, stations } of three) expect(inOrder(queried)).toEqual(inOrder(stations));
    expect(inOrder(three.flatMap(({ queried }) => [...queried]))).toEqual(inOrder(STATIONS));
  });
});
