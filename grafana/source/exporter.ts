import {
  DASHED,
  greenIfAll,
  ORANGE,
  orangeFromOne,
  REASON_COLORS,
  redFromOne,
  reloadMappings,
  scrapeMappings,
  shadesOf,
  thresholds,
  UNIT,
} from './appearance.ts';
import { buildDashboard, line } from './build-dashboard.ts';
import { colorNames, stackedBars, stat, TIME_WIDTH, table, timeseries, withLimit } from './panel.ts';
import { instantQuery, rangeQuery, Scope, tableQuery } from './query.ts';
import { jobVariables, labelVariable, multiple } from './variables.ts';

const exporters = new Scope('instance=~"$instance"');

/** 80% of Prometheus' default scrape_timeout, and the threshold of TelemetryStationOverloaded. */
const SLOW_SCRAPE_S = 8;
const LONG_WAIT_S = 120;
const MANY_THROTTLED = 0.05;

const exportersUp = stat(
  {
    title: 'Exporters up',
    description: 'Share of the exporters that Prometheus can scrape.',
    unit: UNIT.ratio,
    noValue: 'Not scraped',
  },
  instantQuery(`avg(${exporters.series('up')})`),
)
  .thresholds(greenIfAll())
  .decimals(0);

const slowestScrape = stat(
  {
    title: 'Slowest scrape',
    description:
      'Longest duration of the latest scrapes. Orange from 5 seconds; red from 8, where the default scrape_timeout is near: then scrapes wait until their deadline for refreshes.',
    unit: UNIT.seconds,
  },
  instantQuery(`max(${exporters.series('scrape_duration_seconds')})`),
).thresholds(thresholds([5, ORANGE], [SLOW_SCRAPE_S, 'red']));

const configuration = stat(
  {
    title: 'Configuration',
    description:
      'Whether every exporter runs its latest configuration and web configuration. One that rejects them keeps the previous ones.',
  },
  instantQuery(`min(${exporters.series('telemetry_station_exporter_config_last_reload_successful')})`),
).mappings([...reloadMappings]);

const shards = stat(
  {
    title: 'Shards present',
    description: 'Share of the shards that are present. Below 100%, some stations are not refreshed.',
    unit: UNIT.ratio,
  },
  instantQuery(
    `count(count_values("shard", ${exporters.series('telemetry_station_exporter_shard_ordinal')})) / max(${exporters.series('telemetry_station_exporter_total_shards')})`,
  ),
)
  .thresholds(greenIfAll())
  .decimals(0);

const rate = (name: RateName) => `sum by (upstream) (rate(${exporters.series(name)}[$__rate_interval]))`;
type RateName =
  | 'telemetry_station_exporter_api_requests_total'
  | 'telemetry_station_exporter_api_requests_throttled_total';

const requests = rate('telemetry_station_exporter_api_requests_total');
const throttledShare = `${rate('telemetry_station_exporter_api_requests_throttled_total')} / ${requests}`;
const limit = `sum by (upstream) (${exporters.series('telemetry_station_exporter_api_rate_limit')})`;
const waiting = `sum by (upstream) (${exporters.series('telemetry_station_exporter_api_requests_waiting')})`;
const oldestWaiting = `max by (upstream) (${exporters.series('telemetry_station_exporter_oldest_waiting_refresh_seconds')})`;
const hanging = `sum by (upstream) (${exporters.series('telemetry_station_exporter_hanging_stations')})`;

const failing = `sum by (upstream) (1 - ${exporters.once('telemetry_station_up')})`;

const upstreams = table(
  {
    title: 'Upstreams',
    description:
      'Stations whose latest refresh failed, and whether the requests to a service suffice: those sent and the current limit, the share that the service throttled, requests that wait, the longest wait of a refresh, and stations without a reply.',
  },
  {
    queries: [requests, `${limit} < +Inf`, throttledShare, waiting, oldestWaiting, hanging, failing].map(tableQuery),
    columns: [
      { field: 'upstream', title: 'Upstream' },
      { field: 'Value #G', title: 'Failing stations', unit: UNIT.count, thresholds: redFromOne(), width: 130 },
      { field: 'Value #A', title: 'Requests', unit: UNIT.requestsPerSecond, decimals: 1, width: 110 },
      { field: 'Value #B', title: 'Limit', unit: UNIT.requestsPerSecond, decimals: 1, width: 110 },
      {
        field: 'Value #C',
        title: 'Throttled',
        unit: UNIT.ratio,
        decimals: 1,
        thresholds: thresholds([MANY_THROTTLED, ORANGE]),
        width: 110,
      },
      { field: 'Value #D', title: 'Waiting', unit: UNIT.count, width: 90 },
      {
        field: 'Value #E',
        title: 'Longest wait',
        unit: UNIT.seconds,
        decimals: 0,
        thresholds: thresholds([LONG_WAIT_S, 'red']),
        width: 120,
      },
      { field: 'Value #F', title: 'Hanging stations', unit: UNIT.count, thresholds: orangeFromOne(), width: 150 },
    ],
    order: [{ by: 'Value #G (max)', descending: true }, { by: 'Value #E (max)', descending: true }, { by: 'upstream' }],
  },
);

const BUILD_INFO = 'telemetry_station_exporter_build_info';

/** Without further labels of the target, which would keep the rows of one process apart. */
const byInstance = (name: Parameters<Scope['series']>[0]) => `max by (instance) (${exporters.series(name)})`;

const processes = table(
  {
    title: 'Processes',
    description:
      'Exporters, those that are down first: shard, version, when the configuration was loaded, and series withheld by `max_resources`.',
    noValue: 'Not scraped',
  },
  {
    queries: [
      tableQuery(byInstance('up')),
      tableQuery(`max by (instance, version) (${exporters.series(BUILD_INFO)})`),
      tableQuery(byInstance('telemetry_station_exporter_shard_ordinal')),
      tableQuery(byInstance('telemetry_station_exporter_total_shards')),
      tableQuery(`1000 * ${byInstance('telemetry_station_exporter_config_last_reload_success_timestamp_seconds')}`),
      tableQuery(`sum by (instance) (${exporters.series('telemetry_station_exporter_series_withheld')})`),
    ],
    columns: [
      { field: 'instance', title: 'Instance' },
      { field: 'Value #A', title: 'Scrape', mappings: scrapeMappings, width: 65 },
      { field: 'Value #C', title: 'Shard', width: 60 },
      { field: 'Value #D', title: 'Of', width: 45 },
      { field: 'version', title: 'Version', width: 70 },
      { field: 'Value #E', title: 'Loaded', unit: UNIT.time, width: TIME_WIDTH },
      { field: 'Value #F', title: 'Withheld', unit: UNIT.count, thresholds: orangeFromOne(), width: 80 },
    ],
    order: [{ by: 'Value #A (max)' }, { by: 'instance' }],
  },
);

const scrapeDuration = colorNames(
  withLimit(
    timeseries(
      {
        title: 'Scrape duration',
        description:
          'Duration of each scrape. The line is 80% of the default scrape_timeout: scrapes beyond it wait until their deadline for refreshes.',
        unit: UNIT.seconds,
      },
      rangeQuery(exporters.series('scrape_duration_seconds'), '{{instance}}'),
    ),
    SLOW_SCRAPE_S,
  ),
  'end',
);

const quantile = (value: string) =>
  `histogram_quantile(${value}, sum by (upstream, le) (rate(${exporters.series('telemetry_station_exporter_api_request_duration_seconds_bucket')}[$__rate_interval])))`;

const requestLatency = colorNames(
  timeseries(
    {
      title: 'Request latency',
      description: 'Median and 99th percentile of the duration of requests to the service.',
      unit: UNIT.seconds,
    },
    rangeQuery(quantile('0.5'), '{{upstream}}: p50'),
    rangeQuery(quantile('0.99'), '{{upstream}}: p99'),
  ).overrideByRegexp('/: p99$/', [DASHED]),
  'beginning',
);

const requestsAndLimit = colorNames(
  timeseries(
    {
      title: 'Requests and rate limit',
      description:
        'Requests to the service, retries included, and the rate limit while it is less than twice of them. It falls while the service throttles.',
      unit: UNIT.requestsPerSecond,
    },
    rangeQuery(requests, '{{upstream}}: requests'),
    rangeQuery(`${limit} < 2 * ${requests}`, '{{upstream}}: limit'),
  ).overrideByRegexp('/: limit$/', [DASHED, { id: 'custom.showPoints', value: 'auto' }]),
  'beginning',
);

const throttledRequests = colorNames(
  withLimit(
    timeseries(
      {
        title: 'Throttled requests',
        description:
          'Share of the requests that the service throttled: answered with 429, or with 503 while others were accepted.',
        unit: UNIT.ratio,
      },
      rangeQuery(throttledShare, '{{upstream}}'),
    ),
    MANY_THROTTLED,
  ),
  'beginning',
);

const failures = stackedBars(
  {
    title: 'Request failures by reason',
    description: 'Requests that failed, retries included.',
    unit: UNIT.requestsPerSecond,
    noValue: 'None failed, or no data',
  },
  rangeQuery(
    `sum by (upstream, reason) (rate(${exporters.series('telemetry_station_exporter_api_request_failures_total')}[$__rate_interval])) > 0`,
    '{{upstream}}: {{reason}}',
  ),
);
for (const [reason, color] of Object.entries(REASON_COLORS))
  failures.overrideByRegexp(`/: ${reason}$/`, [shadesOf(color)]);

const oldestWaitingRefresh = colorNames(
  withLimit(
    timeseries(
      {
        title: 'Longest wait of a refresh',
        description:
          'How long the refresh that waits longest has waited for its first request. The line is twice the default of `ttl`.',
        unit: UNIT.minutes,
      },
      rangeQuery(`${oldestWaiting} / 60`, '{{upstream}}'),
    ),
    LONG_WAIT_S / 60,
  ),
  'beginning',
);

const memory = colorNames(
  timeseries(
    { title: 'Memory', description: 'Resident memory.', unit: UNIT.bytes },
    rangeQuery(exporters.series('process_resident_memory_bytes'), '{{instance}}'),
  ),
  'end',
);

const cpu = colorNames(
  timeseries(
    { title: 'CPU', description: 'Share of one core.', unit: UNIT.ratio },
    rangeQuery(`rate(${exporters.series('process_cpu_seconds_total')}[$__rate_interval])`, '{{instance}}'),
  ),
  'end',
);

const eventLoopLag = colorNames(
  timeseries(
    { title: 'Event loop lag', description: '99th percentile of the delay of the event loop.', unit: UNIT.seconds },
    rangeQuery(exporters.series('nodejs_eventloop_lag_p99_seconds'), '{{instance}}'),
  ),
  'end',
);

export const exporter = buildDashboard({
  name: 'exporter',
  description:
    'The exporter itself: is it up, is it fast, does the service throttle it, is it overloaded, is it healthy?',
  variables: [
    ...jobVariables(BUILD_INFO),
    multiple(labelVariable('instance', 'Instance', `label_values(${new Scope().series('up')}, instance)`)),
  ],
  rows: [
    {
      lines: [line(3, [6, exportersUp], [6, slowestScrape], [6, configuration], [6, shards]), line(7, [24, upstreams])],
    },
    {
      title: 'Is it up, and is it fast?',
      lines: [line(8, [12, processes], [6, scrapeDuration], [6, requestLatency])],
    },
    {
      title: 'Does the service throttle it, and is it overloaded?',
      lines: [line(8, [6, requestsAndLimit], [6, throttledRequests], [6, oldestWaitingRefresh], [6, failures])],
    },
    { title: 'Is it healthy?', lines: [line(8, [8, memory], [8, cpu], [8, eventLoopLag])] },
  ],
});
