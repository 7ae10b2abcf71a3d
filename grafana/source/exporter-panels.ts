import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { orangeFromOne, scrapeThresholds, targetMappings, thresholds, UNIT } from './appearance.ts';
import { barGauge, colorReasons, stackedBars, stackedTimeseries, stateTimeline, timeseries } from './panel.ts';
import { instantQuery, orNone, rangeQuery, type Scope } from './query.ts';

const NO_SCRAPES = 'No scrapes';
const NO_REQUESTS = 'No requests';
const NO_EXPORTER = 'No exporter';

export const targetsUp = (scope: Scope) =>
  stateTimeline(
    {
      title: 'Scrapes succeeded',
      description:
        'Whether Prometheus scraped each target: the 20 with the most failed scrapes within the time range. A scrape that times out fails.',
      unit: UNIT.short,
      noValue: NO_SCRAPES,
    },
    rangeQuery(
      scope.onTargets(
        `${scope.series('up')} and on (job, instance) bottomk(20, avg_over_time(${scope.series('up')}[$__range] @ end()))`,
      ),
      '{{instance}}',
    ),
  ).mappings(targetMappings);

export const scrapeDuration = (scope: Scope) =>
  timeseries(
    {
      title: 'Scrape duration',
      description:
        'Duration of the scrapes of each target, failed ones included. The line at 8 seconds is 80% of the default `scrape_timeout`.',
      unit: UNIT.seconds,
      noValue: NO_SCRAPES,
    },
    rangeQuery(scope.onTargets(scope.series('scrape_duration_seconds')), '{{instance}}'),
  )
    .thresholds(scrapeThresholds())
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

export const scrapeSamples = (scope: Scope) =>
  timeseries(
    { title: 'Samples per scrape', description: 'Samples in each scrape.', unit: UNIT.short, noValue: NO_SCRAPES },
    rangeQuery(scope.onTargets(scope.series('scrape_samples_scraped')), '{{instance}}'),
  );

export const scrapeBytes = (scope: Scope) =>
  timeseries(
    {
      title: 'Bytes per scrape',
      description: 'Uncompressed size of each scrape. Needs Prometheus with `--enable-feature=extra-scrape-metrics`.',
      unit: UNIT.bytes,
      noValue: 'Needs --enable-feature=extra-scrape-metrics',
    },
    rangeQuery(scope.onTargets(scope.series('scrape_body_size_bytes')), '{{instance}}'),
  );

export const cacheHits = (scope: Scope) =>
  stackedTimeseries(
    {
      title: 'Cache hits and misses',
      description:
        'Stations that a scrape served from the cache (hit), and stations for which it waited for a refresh (miss).',
      unit: UNIT.requestsPerSecond,
      noValue: NO_SCRAPES,
    },
    rangeQuery(scope.rate('telemetry_station_exporter_cache_hits_total', []), 'hit'),
    rangeQuery(scope.rate('telemetry_station_exporter_cache_misses_total', []), 'miss'),
  );

export const seriesByStation = (scope: Scope) =>
  barGauge(
    {
      title: 'Series by station',
      description: 'The 15 stations with the most published series.',
      unit: UNIT.count,
      noValue: NO_SCRAPES,
    },
    instantQuery(`topk(15, ${scope.sum('telemetry_station_exporter_series', ['station'])})`, '{{station}}'),
  );

export const seriesWithheld = (scope: Scope) =>
  timeseries(
    {
      title: 'Series withheld',
      description:
        'Per-resource series that are not published because the station exceeds `max_resources`. Aggregates are not affected.',
      unit: UNIT.short,
      noValue: 'None',
    },
    rangeQuery(`topk(20, ${scope.sum('telemetry_station_exporter_series_withheld', ['station'])})`, '{{station}}'),
  ).thresholds(orangeFromOne());

export const requests = (scope: Scope) =>
  stackedTimeseries(
    {
      title: 'Requests',
      description: 'Requests to the service, including retries, by upstream.',
      unit: UNIT.requestsPerSecond,
      noValue: NO_REQUESTS,
    },
    rangeQuery(scope.rate('telemetry_station_exporter_api_requests_total', ['upstream']), '{{upstream}}'),
  );

export const requestFailures = (scope: Scope) =>
  colorReasons(
    stackedBars(
      {
        title: 'Request failures by reason',
        description: 'Failed requests by reason. `rate_limited`: the service responded 429. `none`: no request failed.',
        unit: UNIT.requestsPerSecond,
        noValue: NO_REQUESTS,
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

export const retries = (scope: Scope) =>
  timeseries(
    {
      title: 'Retries',
      description: 'Retried requests by upstream.',
      unit: UNIT.requestsPerSecond,
      noValue: NO_REQUESTS,
    },
    rangeQuery(scope.rate('telemetry_station_exporter_api_request_retries_total', ['upstream']), '{{upstream}}'),
  );

const DURATION = 'telemetry_station_exporter_api_request_duration_seconds';

export const requestLatency = (scope: Scope) =>
  timeseries(
    {
      title: 'Request latency',
      description: 'Median and 99th percentile of the duration of requests to each upstream, including the body.',
      unit: UNIT.seconds,
      noValue: NO_REQUESTS,
    },
    rangeQuery(scope.quantile(0.5, DURATION), '{{upstream}}: p50'),
    rangeQuery(scope.quantile(0.99, DURATION), '{{upstream}}: p99'),
  );

export const requestsInFlight = (scope: Scope) =>
  timeseries(
    {
      title: 'Requests in flight',
      description: 'Requests in flight by upstream, at most `concurrency` per exporter.',
      unit: UNIT.short,
      noValue: NO_REQUESTS,
    },
    rangeQuery(scope.total('telemetry_station_exporter_api_requests_in_flight', ['upstream']), '{{upstream}}'),
  );

export const requestsWaiting = (scope: Scope) =>
  timeseries(
    {
      title: 'Requests waiting',
      description: 'Requests queued because of `concurrency` or `requests_per_second`, by upstream.',
      unit: UNIT.short,
      noValue: NO_REQUESTS,
    },
    rangeQuery(scope.total('telemetry_station_exporter_api_requests_waiting', ['upstream']), '{{upstream}}'),
  );

export const memory = (scope: Scope) =>
  timeseries(
    {
      title: 'Memory',
      description: 'Resident memory, V8 heap in use, and external memory such as the encoded snapshots.',
      unit: UNIT.bytes,
      noValue: NO_EXPORTER,
    },
    rangeQuery(scope.onExporters(scope.series('process_resident_memory_bytes')), '{{instance}}: resident'),
    rangeQuery(scope.onExporters(scope.series('nodejs_heap_size_used_bytes')), '{{instance}}: heap'),
    rangeQuery(scope.onExporters(scope.series('nodejs_external_memory_bytes')), '{{instance}}: external'),
  );

export const eventLoopLag = (scope: Scope) =>
  timeseries(
    {
      title: 'Event loop lag',
      description: 'Median, 99th percentile and maximum of the event loop lag since the last scrape.',
      unit: UNIT.seconds,
      noValue: NO_EXPORTER,
    },
    rangeQuery(scope.onExporters(scope.series('nodejs_eventloop_lag_p50_seconds')), '{{instance}}: p50'),
    rangeQuery(scope.onExporters(scope.series('nodejs_eventloop_lag_p99_seconds')), '{{instance}}: p99'),
    rangeQuery(scope.onExporters(scope.series('nodejs_eventloop_lag_max_seconds')), '{{instance}}: max'),
  ).thresholds(thresholds([0, 'green'], [0.1, 'dark-orange'], [0.5, 'red']));

export const cpu = (scope: Scope) =>
  timeseries(
    {
      title: 'CPU',
      description: 'CPU usage of the process; 100% is one core.',
      unit: UNIT.ratio,
      noValue: NO_EXPORTER,
    },
    rangeQuery(
      scope.onExporters(`rate(${scope.series('process_cpu_seconds_total')}[$__rate_interval])`),
      '{{instance}}',
    ),
  );

export const garbageCollection = (scope: Scope) =>
  timeseries(
    {
      title: 'Garbage collection',
      description: 'Share of time spent in garbage collection, by kind.',
      unit: UNIT.ratio,
      noValue: NO_EXPORTER,
    },
    rangeQuery(
      scope.onExporters(
        `sum by (job, instance, kind) (rate(${scope.series('nodejs_gc_duration_seconds_sum')}[$__rate_interval]))`,
      ),
      '{{instance}}: {{kind}}',
    ),
  );

export const openFileDescriptors = (scope: Scope) =>
  timeseries(
    {
      title: 'Open file descriptors',
      description: 'Open file descriptors, including sockets, as a share of the limit.',
      unit: UNIT.ratio,
      noValue: NO_EXPORTER,
    },
    rangeQuery(
      scope.onExporters(`${scope.series('process_open_fds')} / ${scope.series('process_max_fds')}`),
      '{{instance}}',
    ),
  ).thresholds(thresholds([0, 'green'], [0.8, 'red']));
