import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { reloadMappings, scrapeThresholds, thresholds } from './appearance.ts';
import { finished } from './finish.ts';
import { line } from './layout.ts';
import { stat, timeline } from './panel.ts';
import { cpu, eventLoop, files, garbage, memory } from './process.ts';
import { Scope } from './query.ts';
import { cache, scrapeBytes, scrapeDuration, scrapeSamples, seriesByStation, withheld } from './scrapes.ts';
import { table } from './table.ts';
import { now, over, rows } from './target.ts';
import { UNIT } from './units.ts';
import { failures, inFlight, latency, requests, retries, waiting } from './upstreams.ts';
import { datasource, labelVariable } from './variables.ts';

const scope = new Scope('instance', 'upstream', 'station');

/** Targets that have told of an exporter within the time range, whether or not they answer now. */
const known = `last_over_time(${scope.series('telemetry_station_exporter_build_info')}[$__range])`;
const nothing = 'No exporter';

const upNow = stat(
  {
    title: 'Exporters up',
    description: 'Exporters that answer Prometheus, of those that did within the time range.',
    unit: UNIT.ratio,
    nothing,
  },
  now(`avg(${scope.series('up')} and on (job, instance) ${known})`),
).thresholds(thresholds([null, 'red'], [1, 'green']));

const versionNow = stat(
  { title: 'Version', description: 'The version of the exporter; more than one while a new one is rolled out.', unit: UNIT.text, nothing },
  now(`count by (version) (${scope.series('telemetry_station_exporter_build_info')})`, '{{version}}'),
).textMode(BigValueTextMode.Name);

const reloadNow = stat(
  {
    title: 'Configuration',
    description: 'Whether the latest configuration is in force in every process, or was rejected somewhere and an older one serves.',
    unit: UNIT.short,
    nothing,
  },
  now(`min(${scope.series('telemetry_station_exporter_config_last_reload_successful')})`),
).mappings(reloadMappings);

const SHARDS_PRESENT = `count by (job) (count_values by (job) ("ordinal", ${scope.series('telemetry_station_exporter_shard_ordinal')}))`;

const shardsNow = stat(
  {
    title: 'Shards covered',
    description: 'The share of the shards that are present, in the job where it is lowest. Below 100 % some stations are asked by nobody.',
    unit: UNIT.ratio,
    nothing,
  },
  now(`min(${SHARDS_PRESENT} / max by (job) (${scope.series('telemetry_station_exporter_total_shards')}))`),
).thresholds(thresholds([null, 'red'], [1, 'green']));

const stationsNow = stat(
  { title: 'Stations', description: 'Stations that the exporters publish.', unit: UNIT.count, nothing },
  now(`count(${scope.each('telemetry_station_exporter_series')})`),
);

const seriesNow = stat(
  { title: 'Series', description: 'Series published for the stations, all targets together.', unit: UNIT.short, nothing },
  now(`sum(${scope.series('telemetry_station_exporter_series')})`),
);

const slowestNow = stat(
  {
    title: 'Slowest scrape',
    description: 'The longest of the latest scrapes. Red from 8 seconds: four fifths of Prometheus’ default timeout.',
    unit: UNIT.seconds,
    nothing,
  },
  now(`max(${scope.ofTargets(scope.series('scrape_duration_seconds'))})`),
).thresholds(scrapeThresholds());

const memoryNow = stat(
  { title: 'Largest memory', description: 'The resident memory of the largest process.', unit: UNIT.bytes, nothing },
  now(`max(${scope.ofExporters(scope.series('process_resident_memory_bytes'))})`),
);

const reloads = timeline(
  {
    title: 'Configuration over time',
    description: 'Whether the latest attempt to load the configuration succeeded, by process.',
    unit: UNIT.short,
    nothing,
  },
  over(scope.series('telemetry_station_exporter_config_last_reload_successful'), '{{instance}}'),
).mappings(reloadMappings);

const processes = table(
  {
    title: 'Processes',
    description: 'Each process with its shard, its version and since when its configuration is in force; at most 200.',
    nothing,
  },
  [
    rows(`topk(200, ${scope.series('telemetry_station_exporter_shard_ordinal')})`),
    rows(`topk(200, ${scope.series('telemetry_station_exporter_total_shards')})`),
    rows(`topk(200, max by (job, instance, version, node_version) (${scope.series('telemetry_station_exporter_build_info')}))`),
    rows(`topk(200, 1000 * ${scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds')})`),
  ],
  [
    { field: 'instance', title: 'Instance' },
    { field: 'Value #A', title: 'Shard', width: 70 },
    { field: 'Value #B', title: 'Of', width: 60 },
    { field: 'version', title: 'Version', width: 80 },
    { field: 'node_version', title: 'Node', width: 90 },
    { field: 'Value #D', title: 'Configured', unit: UNIT.date, width: 155 },
  ],
  { by: 'Shard', descending: false },
);

export const exporter = finished({
  name: 'exporter',
  description: 'The exporter itself: its scrapes, what it asks of the service and how that goes, its cache, and its process.',
  refresh: '1m',
  variables: [
    datasource(),
    labelVariable('job', 'Job', 'telemetry_station_exporter_build_info', undefined),
    labelVariable('instance', 'Instance', 'telemetry_station_exporter_build_info', new Scope()),
    labelVariable('upstream', 'Upstream', 'telemetry_station_exporter_api_requests_total', new Scope('instance')),
    labelVariable('station', 'Station', 'telemetry_station_exporter_series', new Scope('instance')),
  ],
  sections: [
    {
      title: 'Now',
      lines: [
        line(
          4,
          [3, upNow],
          [3, versionNow],
          [3, reloadNow],
          [3, shardsNow],
          [3, stationsNow],
          [3, seriesNow],
          [3, slowestNow],
          [3, memoryNow],
        ),
      ],
    },
    { title: 'Scrapes', lines: [line(8, [8, scrapeDuration(scope)], [8, scrapeSamples(scope)], [8, scrapeBytes(scope)])] },
    {
      title: 'Requests to the service',
      lines: [
        line(8, [8, requests(scope)], [8, failures(scope)], [8, retries(scope)]),
        line(8, [8, latency(scope)], [8, inFlight(scope)], [8, waiting(scope)]),
      ],
    },
    { title: 'Cache and series', lines: [line(8, [8, cache(scope)], [8, seriesByStation(scope)], [8, withheld(scope)])] },
    {
      title: 'Process',
      lines: [line(8, [12, memory(scope)], [12, eventLoop(scope)]), line(7, [8, cpu(scope)], [8, garbage(scope)], [8, files(scope)])],
    },
    { title: 'Configuration and shards', lines: [line(8, [12, reloads], [12, processes])] },
  ],
});
