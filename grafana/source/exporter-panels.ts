import { labelList } from '../../prometheus/promql/cluster.ts';
import { DASHED, HUE, SLOW_SCRAPE_S, scrapeThresholds, shadesOf, targetMappings, UNIT } from './appearance.ts';
import { colorReasons, stackedBars, stat, stateTimeline, table, timeseries, withLimit } from './panel.ts';
import { BY_TARGET, instantQuery, orNone, rangeQuery, type Scope, tableQuery } from './query.ts';
import { STATION_COLUMNS } from './resource-table.ts';

/** A failed scrape that was not slow says nothing about how long a scrape takes. */
export function slowestScrape(scope: Scope) {
  const durations = scope.onTargets(scope.series('scrape_duration_seconds'));
  const slowest = `max by ${labelList()} (${durations})`;
  const failed = scope.onTargets(`(${scope.series('up')} == 0)`);
  return stat(
    {
      title: 'Slowest scrape',
      description:
        'Longest of the latest scrapes, unknown while a target cannot be scraped. Red from 8 seconds, 80% of the default `scrape_timeout`.',
      unit: UNIT.seconds,
      noValue: 'A target cannot be scraped',
    },
    instantQuery(`${slowest} >= ${SLOW_SCRAPE_S} or ${slowest} unless on ${labelList()} (${failed})`),
  ).thresholds(scrapeThresholds());
}

export const targetsUp = (scope: Scope) =>
  stateTimeline(
    {
      title: 'Scrapes succeeded',
      description:
        'Whether Prometheus scraped each target: the 20 with the most failed scrapes within the time range. A scrape that times out fails.',
      unit: UNIT.short,
    },
    rangeQuery(
      scope.onTargets(
        `${scope.series('up')} and on ${BY_TARGET} bottomk(20, avg_over_time(${scope.series('up')}[$__range] @ end()))`,
      ),
      '{{instance}}',
    ),
  ).mappings(targetMappings);

export const scrapeDuration = (scope: Scope) =>
  withLimit(
    timeseries(
      {
        title: 'Scrape duration',
        description:
          'Duration of the scrapes of each target, failed ones included. The line at 8 seconds is 80% of the default `scrape_timeout`.',
        unit: UNIT.seconds,
      },
      rangeQuery(scope.onTargets(scope.series('scrape_duration_seconds')), '{{instance}}'),
    ),
    SLOW_SCRAPE_S,
  );

export const seriesByStation = (scope: Scope) =>
  table(
    {
      title: 'Series by station',
      description:
        'The 100 stations with the most published series, and the per-resource series that are not published because a station exceeds `max_resources`. Aggregates are not affected.',
    },
    [
      tableQuery(`topk(100, ${scope.deduplicated('telemetry_station_exporter_series')})`),
      tableQuery(`topk(100, ${scope.deduplicated('telemetry_station_exporter_series_withheld')})`),
    ],
    [
      ...STATION_COLUMNS,
      { field: 'Value #A', title: 'Series', unit: UNIT.count, width: 100 },
      { field: 'Value #B', title: 'Withheld', unit: UNIT.count, width: 100 },
    ],
    { by: 'Value #A', descending: true, limit: 100 },
  );

export const requestFailures = (scope: Scope) =>
  colorReasons(
    stackedBars(
      {
        title: 'Request failures by reason',
        description: 'Failed requests by reason. `rate_limited`: the service responded 429. `none`: no request failed.',
        unit: UNIT.requestsPerSecond,
      },
      rangeQuery(
        orNone(
          `${scope.rate('telemetry_station_exporter_api_request_failures_total', ['reason'])} > 0`,
          'reason',
          scope.series('telemetry_station_exporter_api_requests_in_flight'),
        ),
        '{{reason}}',
      ),
    ),
  );

const DURATION = 'telemetry_station_exporter_api_request_duration_seconds';

export const requestLatency = (scope: Scope) =>
  timeseries(
    {
      title: 'Request latency',
      description: 'Median and 99th percentile of the duration of requests to each upstream, including the body.',
      unit: UNIT.seconds,
    },
    rangeQuery(scope.quantile(0.5, DURATION), '{{upstream}}: p50'),
    rangeQuery(scope.quantile(0.99, DURATION), '{{upstream}}: p99'),
  ).overrideByRegexp('/: p99$/', [DASHED, shadesOf(HUE.purple)]);

export const requestsInFlight = (scope: Scope) =>
  timeseries(
    {
      title: 'Requests in flight and waiting',
      description:
        'Requests in flight by upstream, at most `concurrency` per exporter, and requests queued because of `concurrency` or the rate limit.',
      unit: UNIT.short,
    },
    rangeQuery(
      scope.total('telemetry_station_exporter_api_requests_in_flight', ['upstream']),
      '{{upstream}}: in flight',
    ),
    rangeQuery(scope.total('telemetry_station_exporter_api_requests_waiting', ['upstream']), '{{upstream}}: waiting'),
  ).overrideByRegexp('/: waiting$/', [shadesOf(HUE.purple)]);

export const memory = (scope: Scope) =>
  timeseries(
    { title: 'Memory', description: 'Resident memory of each exporter.', unit: UNIT.bytes },
    rangeQuery(scope.onExporters(scope.series('process_resident_memory_bytes')), '{{instance}}'),
  );

export const eventLoopLag = (scope: Scope) =>
  timeseries(
    {
      title: 'Event loop lag',
      description: '99th percentile of the event loop lag since the last scrape.',
      unit: UNIT.seconds,
    },
    rangeQuery(scope.onExporters(scope.series('nodejs_eventloop_lag_p99_seconds')), '{{instance}}'),
  );

export const cpu = (scope: Scope) =>
  timeseries(
    { title: 'CPU', description: 'CPU usage of the process; 100% is one core.', unit: UNIT.ratio },
    rangeQuery(
      scope.onExporters(`rate(${scope.series('process_cpu_seconds_total')}[$__rate_interval])`),
      '{{instance}}',
    ),
  );
