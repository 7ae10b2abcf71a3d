import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { alertsTable } from './alert-panels.ts';
import { redBelowOne, reloadMappings, scrapeThresholds, UNIT } from './appearance.ts';
import { buildDashboard, line, panelLink } from './build-dashboard.ts';
import {
  hangingStations,
  oldestWaitingRefresh,
  pageSizeReductions,
  queueTime,
  rateLimit,
  refreshesWaiting,
  roundTime,
  throttledRequests,
} from './capacity-panels.ts';
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
  targetsUp,
} from './exporter-panels.ts';
import { linked, stat, stateTimeline, table } from './panel.ts';
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
).thresholds(redBelowOne());

const versionStat = stat(
  { title: 'Version', description: 'Exporter version; several during a rollout.', unit: UNIT.text, noValue },
  instantQuery(`count by (version) (${scope.series('telemetry_station_exporter_build_info')})`, '{{version}}'),
).textMode(BigValueTextMode.Name);

const configurationStat = stat(
  {
    title: 'Configuration',
    description:
      'Whether every exporter runs its latest configuration. An exporter that rejects it keeps the previous one.',
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
).thresholds(redBelowOne());

const stationsStat = stat(
  { title: 'Stations', description: 'Stations that the exporters publish.', unit: UNIT.count, noValue },
  instantQuery(`count(${scope.deduplicated('telemetry_station_exporter_series')})`),
);

const seriesStat = stat(
  {
    title: 'Series',
    description: 'Series published for all stations, summed over all targets.',
    unit: UNIT.short,
    noValue,
  },
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

/** Without further labels of the target, which keep the rows of one process apart. */
const processQuery = (expression: string) => tableQuery(`topk(200, max by (job, instance) (${expression}))`);

const processes = table(
  {
    title: 'Processes',
    description: 'Up to 200 exporters with shard, version and time of the last successful configuration load.',
    noValue,
  },
  [
    processQuery(scope.series('telemetry_station_exporter_shard_ordinal')),
    processQuery(scope.series('telemetry_station_exporter_total_shards')),
    tableQuery(
      `topk(200, max by (job, instance, version, node_version) (${scope.series('telemetry_station_exporter_build_info')}))`,
    ),
    processQuery(`1000 * ${scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds')}`),
  ],
  [
    { field: 'instance', title: 'Instance', width: 135 },
    { field: 'Value #A', title: 'Shard', width: 75 },
    { field: 'Value #B', title: 'Of', width: 60 },
    { field: 'version', title: 'Version', width: 90 },
    { field: 'node_version', title: 'Node', width: 90 },
    { field: 'Value #D', title: 'Loaded', unit: UNIT.date, width: 145 },
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
          3,
          [6, linked(upStat, panelLink('exporter', 'Scrapes succeeded'))],
          [6, linked(configurationStat, panelLink('exporter', 'Configuration over time'))],
          [6, linked(shardsStat, panelLink('exporter', 'Processes'))],
          [6, linked(slowestScrapeStat, panelLink('exporter', 'Scrape duration'))],
        ),
        line(
          3,
          [6, linked(stationsStat, panelLink('exporter', 'Series by station'))],
          [6, linked(seriesStat, panelLink('exporter', 'Series by station'))],
          [6, linked(memoryStat, panelLink('exporter', 'Memory'))],
          [6, linked(versionStat, panelLink('exporter', 'Processes'))],
        ),
        line(7, [24, alertsTable(scope)]),
      ],
    },
    {
      title: 'Scrapes',
      lines: [
        line(8, [12, targetsUp(scope)], [12, scrapeDuration(scope)]),
        line(8, [12, scrapeSamples(scope)], [12, scrapeBytes(scope)]),
      ],
    },
    {
      title: 'Requests to the service',
      lines: [
        line(8, [8, requests(scope)], [8, requestFailures(scope)], [8, retries(scope)]),
        line(8, [8, requestLatency(scope)], [8, requestsInFlight(scope)], [8, requestsWaiting(scope)]),
      ],
    },
    {
      title: 'Capacity: throttling and queues',
      lines: [
        line(8, [8, rateLimit(scope)], [8, throttledRequests(scope)], [8, pageSizeReductions(scope)]),
        line(8, [8, refreshesWaiting(scope)], [8, oldestWaitingRefresh(scope)], [8, hangingStations(scope)]),
        line(8, [12, queueTime(scope)], [12, roundTime(scope)]),
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
