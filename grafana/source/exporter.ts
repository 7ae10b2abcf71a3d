import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { reloadMappings, scrapeThresholds, thresholds, UNIT } from './appearance.ts';
import { buildDashboard, line } from './build-dashboard.ts';
import {
  cacheHits,
  cpu,
  eventLoopLag,
  garbageCollection,
  memory,
  openFileDescriptors,
  requestFailures,
  requestLatency,
  requests,
  requestsInFlight,
  requestsWaiting,
  retries,
  scrapeBytes,
  scrapeDuration,
  scrapeSamples,
  seriesByStation,
  seriesWithheld,
} from './exporter-panels.ts';
import { stat, stateTimeline, table } from './panel.ts';
import { instantQuery, rangeQuery, Scope, tableQuery } from './query.ts';
import { datasourceVariable, labelVariable } from './variables.ts';

const scope = new Scope('instance', 'upstream', 'station');
const noValue = 'No exporter';

/** Exporters seen within the time range, including those that are down now. */
const knownExporters = `last_over_time(${scope.series('telemetry_station_exporter_build_info')}[$__range])`;

const upStat = stat(
  {
    title: 'Exporters up',
    description: 'Share of the exporters seen within the time range that are up.',
    unit: UNIT.ratio,
    noValue,
  },
  instantQuery(`avg(${scope.series('up')} and on (job, instance) ${knownExporters})`),
).thresholds(thresholds([null, 'red'], [1, 'green']));

const versionStat = stat(
  { title: 'Version', description: 'Exporter version; several during a rollout.', unit: UNIT.text, noValue },
  instantQuery(`count by (version) (${scope.series('telemetry_station_exporter_build_info')})`, '{{version}}'),
).textMode(BigValueTextMode.Name);

const configurationStat = stat(
  {
    title: 'Configuration',
    description: 'Whether every exporter runs its latest configuration. An exporter that rejects it keeps the previous one.',
    unit: UNIT.short,
    noValue,
  },
  instantQuery(`min(${scope.series('telemetry_station_exporter_config_last_reload_successful')})`),
).mappings(reloadMappings);

const presentShards = `count by (job) (count_values by (job) ("ordinal", ${scope.series('telemetry_station_exporter_shard_ordinal')}))`;

const shardsStat = stat(
  {
    title: 'Shards present',
    description: 'Share of shards that are present, lowest of all jobs. Below 100%, some stations are not refreshed.',
    unit: UNIT.ratio,
    noValue,
  },
  instantQuery(`min(${presentShards} / max by (job) (${scope.series('telemetry_station_exporter_total_shards')}))`),
).thresholds(thresholds([null, 'red'], [1, 'green']));

const stationsStat = stat(
  { title: 'Stations', description: 'Stations that the exporters publish.', unit: UNIT.count, noValue },
  instantQuery(`count(${scope.deduplicated('telemetry_station_exporter_series')})`),
);

const seriesStat = stat(
  { title: 'Series', description: 'Series published for all stations, summed over all targets.', unit: UNIT.short, noValue },
  instantQuery(`sum(${scope.series('telemetry_station_exporter_series')})`),
);

const slowestScrapeStat = stat(
  {
    title: 'Slowest scrape',
    description: 'Longest of the latest scrapes. Red from 8 seconds, 80% of the default `scrape_timeout`.',
    unit: UNIT.seconds,
    noValue,
  },
  instantQuery(`max(${scope.onTargets(scope.series('scrape_duration_seconds'))})`),
).thresholds(scrapeThresholds());

const memoryStat = stat(
  { title: 'Max memory', description: 'Largest resident memory of an exporter.', unit: UNIT.bytes, noValue },
  instantQuery(`max(${scope.onExporters(scope.series('process_resident_memory_bytes'))})`),
);

const reloads = stateTimeline(
  {
    title: 'Configuration over time',
    description: 'Whether the latest configuration load of each exporter succeeded.',
    unit: UNIT.short,
    noValue,
  },
  rangeQuery(scope.series('telemetry_station_exporter_config_last_reload_successful'), '{{instance}}'),
).mappings(reloadMappings);

const processes = table(
  {
    title: 'Processes',
    description: 'Up to 200 exporters with shard, version and time of the last successful configuration load.',
    noValue,
  },
  [
    tableQuery(`topk(200, ${scope.series('telemetry_station_exporter_shard_ordinal')})`),
    tableQuery(`topk(200, ${scope.series('telemetry_station_exporter_total_shards')})`),
    tableQuery(`topk(200, max by (job, instance, version, node_version) (${scope.series('telemetry_station_exporter_build_info')}))`),
    tableQuery(`topk(200, 1000 * ${scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds')})`),
  ],
  [
    { field: 'instance', title: 'Instance' },
    { field: 'Value #A', title: 'Shard', width: 70 },
    { field: 'Value #B', title: 'Of', width: 60 },
    { field: 'version', title: 'Version', width: 80 },
    { field: 'node_version', title: 'Node', width: 90 },
    { field: 'Value #D', title: 'Configuration loaded', unit: UNIT.date, width: 155 },
  ],
  { by: 'Shard', descending: false },
);

export const exporter = buildDashboard({
  name: 'exporter',
  description: 'The exporter itself: scrapes, requests to the service, cache, process, configuration and shards.',
  refresh: '1m',
  variables: [
    datasourceVariable(),
    labelVariable('job', 'Job', 'telemetry_station_exporter_build_info', undefined),
    labelVariable('instance', 'Instance', 'telemetry_station_exporter_build_info', new Scope()),
    labelVariable('upstream', 'Upstream', 'telemetry_station_exporter_api_requests_total', new Scope('instance')),
    labelVariable('station', 'Station', 'telemetry_station_exporter_series', new Scope('instance')),
  ],
  sections: [
    {
      title: 'Overview',
      lines: [
        line(
          4,
          [3, upStat],
          [3, versionStat],
          [3, configurationStat],
          [3, shardsStat],
          [3, stationsStat],
          [3, seriesStat],
          [3, slowestScrapeStat],
          [3, memoryStat],
        ),
      ],
    },
    { title: 'Scrapes', lines: [line(8, [8, scrapeDuration(scope)], [8, scrapeSamples(scope)], [8, scrapeBytes(scope)])] },
    {
      title: 'Requests to the service',
      lines: [
        line(8, [8, requests(scope)], [8, requestFailures(scope)], [8, retries(scope)]),
        line(8, [8, requestLatency(scope)], [8, requestsInFlight(scope)], [8, requestsWaiting(scope)]),
      ],
    },
    {
      title: 'Cache and series',
      lines: [line(8, [8, cacheHits(scope)], [8, seriesByStation(scope)], [8, seriesWithheld(scope)])],
    },
    {
      title: 'Process',
      lines: [
        line(8, [12, memory(scope)], [12, eventLoopLag(scope)]),
        line(7, [8, cpu(scope)], [8, garbageCollection(scope)], [8, openFileDescriptors(scope)]),
      ],
    },
    { title: 'Configuration and shards', lines: [line(8, [12, reloads], [12, processes])] },
  ],
});
