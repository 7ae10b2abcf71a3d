import { describe, expect, it } from 'vitest';
import { parseExposition, valuesOf } from '../exposition/parse-exposition.ts';
import { httpRequest } from '../web/http-client.ts';
import { configFlag, run } from './running-program.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

const STATIONS = Array.from({ length: 60 }, (_, index) => `station-${index}`);

describe('shards', () => {
  it('publish all stations between them, and query each station once', async () => {
    const service = await startTestService({ source: () => entriesOf(1) });
    // A single refresh per station, so that only the sharding makes a difference.
    const config = configFlag(configOf(service.url, STATIONS, { cache: { ttl: '1h', error_ttl: '1h' } }));
    const published: string[] = [];
    for (const ordinal of [0, 1, 2]) {
      const flags = [config, '--web.listen-address=127.0.0.1:0', '--shard=auto', '--total-shards=3'];
      const pod = run(flags, {}, `telemetry-station-exporter-${ordinal}`);
      const metrics = parseExposition((await httpRequest(await pod.listening(), '/metrics')).body);
      expect(valuesOf(metrics, 'telemetry_station_exporter_shard_ordinal')).toEqual({ '': ordinal });
      expect(valuesOf(metrics, 'telemetry_station_exporter_total_shards')).toEqual({ '': 3 });
      const resources = Object.keys(valuesOf(metrics, 'telemetry_station_resources', 'station'));
      expect(resources).toEqual(Object.keys(valuesOf(metrics, 'telemetry_station_up', 'station')));
      published.push(...resources);
    }
    expect(published.toSorted()).toEqual(STATIONS.toSorted());
    expect(service.requests.map(({ station }) => station).toSorted()).toEqual(STATIONS.toSorted());
  });
});
