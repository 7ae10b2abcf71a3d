import { labelList } from '../../prometheus/promql/cluster.ts';
import { ruleGroups } from '../../prometheus/source/rules-file.ts';
import { alertsTable } from './alert-panels.ts';
import { redBelowOne, reloadMappings, targetMappings, UNIT } from './appearance.ts';
import { buildDashboard, line, panelLink } from './build-dashboard.ts';
import {
  capacityByUpstream,
  oldestWaitingRefresh,
  rateLimit,
  throttledRequests,
  timeToRefresh,
} from './capacity-panels.ts';
import {
  cpu,
  eventLoopLag,
  memory,
  requestFailures,
  requestLatency,
  requestsInFlight,
  scrapeDuration,
  seriesByStation,
  slowestScrape,
  targetsUp,
} from './exporter-panels.ts';
import { exportersUp, knownExporters } from './health-panels.ts';
import { CLUSTER_COLUMN, JOB_COLUMN, linked, stat, table } from './panel.ts';
import { BY_TARGET, instantQuery, Scope, tableQuery } from './query.ts';
import { datasourceVariable, jobVariables, labelVariable } from './variables.ts';

const BY_JOB = labelList('job');
const scope = new Scope('instance', 'upstream', 'station');
const known = knownExporters(scope);
const reloaded = scope.series('telemetry_station_exporter_config_last_reload_successful');

const configurationStat = stat(
  {
    title: 'Configuration',
    description:
      'Whether every exporter runs its latest configuration. An exporter that rejects it keeps the previous one. `Unknown`: an exporter is down.',
    unit: UNIT.short,
  },
  instantQuery(`min by ${labelList()} (${reloaded} or on ${BY_TARGET} 0.5 * ${known})`),
).mappings(reloadMappings);

const presentShards = `count by ${BY_JOB} (count_values by ${BY_JOB} ("ordinal", ${scope.series('telemetry_station_exporter_shard_ordinal')}))`;
const totalShards = `max by ${BY_JOB} (last_over_time(${scope.series('telemetry_station_exporter_total_shards')}[$__range]))`;

const shardsStat = stat(
  {
    title: 'Shards present',
    description: 'Share of shards that are present, lowest of all jobs. Below 100%, some stations are not refreshed.',
    unit: UNIT.ratio,
  },
  instantQuery(`min by ${labelList()} ((${presentShards} or 0 * ${totalShards}) / ${totalShards})`),
)
  .thresholds(redBelowOne())
  .decimals(0);

/** Without further labels of the target, which keep the rows of one process apart. */
const processQuery = (expression: string) => tableQuery(`topk(200, max by ${BY_TARGET} (${expression}))`);

const processes = table(
  {
    title: 'Processes',
    description:
      'Up to 200 exporters seen within the time range, with shard, version and time of the last successful configuration load.',
  },
  [
    processQuery(scope.series('telemetry_station_exporter_shard_ordinal')),
    processQuery(scope.series('telemetry_station_exporter_total_shards')),
    tableQuery(
      `topk(200, max by ${labelList('job', 'instance', 'version', 'node_version')} (${scope.series('telemetry_station_exporter_build_info')}))`,
    ),
    processQuery(`1000 * ${scope.series('telemetry_station_exporter_config_last_reload_success_timestamp_seconds')}`),
    processQuery(`${scope.series('up')} and on ${BY_TARGET} ${known}`),
  ],
  [
    { field: 'instance', title: 'Instance' },
    JOB_COLUMN,
    CLUSTER_COLUMN,
    { field: 'Value #E', title: 'Scrape', mappings: targetMappings, width: 105 },
    { field: 'Value #A', title: 'Shard', width: 75 },
    { field: 'Value #B', title: 'Of', width: 55 },
    { field: 'version', title: 'Version', width: 90 },
    { field: 'node_version', title: 'Node', width: 90 },
    { field: 'Value #D', title: 'Loaded', unit: UNIT.date, width: 145 },
  ],
  { by: 'Value #A', descending: false },
);

/** Not those of stations and resources, which the other dashboards list. */
const exporterAlerts = ruleGroups()
  .flatMap(({ rules }) => [...rules])
  .flatMap((rule) => ('alert' in rule && rule.dashboard === 'exporter' ? rule.alert : []))
  .join('|');

export const exporter = buildDashboard({
  name: 'exporter',
  description:
    'The exporter itself: is it up, is it fast, does the service throttle it, is it overloaded, is it healthy?',
  refresh: '1m',
  variables: [
    datasourceVariable(),
    ...jobVariables('telemetry_station_exporter_build_info'),
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
          [6, linked(exportersUp(scope), panelLink('exporter', 'Scrapes succeeded'))],
          [6, linked(slowestScrape(scope), panelLink('exporter', 'Scrape duration'))],
          [6, linked(configurationStat, panelLink('exporter', 'Processes'))],
          [6, linked(shardsStat, panelLink('exporter', 'Processes'))],
        ),
        line(6, [24, capacityByUpstream(scope)]),
        line(6, [24, alertsTable(scope, { title: 'Exporter alerts', names: exporterAlerts })]),
      ],
    },
    { title: 'Is it up?', lines: [line(8, [8, targetsUp(scope)], [16, processes])] },
    { title: 'Is it fast?', lines: [line(8, [12, scrapeDuration(scope)], [12, requestLatency(scope)])] },
    {
      title: 'Does the service throttle it?',
      lines: [line(8, [8, rateLimit(scope)], [8, throttledRequests(scope)], [8, requestFailures(scope)])],
    },
    { title: 'Is it overloaded?', lines: [line(8, [12, oldestWaitingRefresh(scope)], [12, timeToRefresh(scope)])] },
    { title: 'Is it healthy?', lines: [line(8, [8, memory(scope)], [8, cpu(scope)], [8, eventLoopLag(scope)])] },
    {
      title: 'Series and requests',
      collapsed: true,
      lines: [line(8, [12, seriesByStation(scope)], [12, requestsInFlight(scope)])],
    },
  ],
});
