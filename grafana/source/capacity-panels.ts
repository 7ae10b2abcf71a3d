import { ageThresholds, UNIT } from './appearance.ts';
import { timeseries } from './panel.ts';
import { rangeQuery, type Scope, sumBy } from './query.ts';

const NO_UPSTREAM = 'No upstream';
const requestRate = (scope: Scope) => scope.rate('telemetry_station_exporter_api_requests_total', ['upstream']);

export const rateLimit = (scope: Scope) =>
  timeseries(
    {
      title: 'Requests and rate limit',
      description:
        'Requests per second to each upstream, and the limit that the exporter keeps: `requests_per_second`, or what the service accepts. No line for an upstream without a limit.',
      unit: UNIT.requestsPerSecond,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(requestRate(scope), '{{upstream}}: requests'),
    rangeQuery(
      `${scope.total('telemetry_station_exporter_api_rate_limit', ['upstream'])} < +Inf`,
      '{{upstream}}: limit',
    ),
  );

export const throttledRequests = (scope: Scope) =>
  timeseries(
    {
      title: 'Throttled requests',
      description: 'Share of the requests that the service answered with 429 or Retry-After, by upstream.',
      unit: UNIT.ratio,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(
      `${scope.rate('telemetry_station_exporter_api_requests_throttled_total', ['upstream'])} / (${requestRate(scope)} > 0)`,
      '{{upstream}}',
    ),
  ).max(1);

export const pageSizeReductions = (scope: Scope) =>
  timeseries(
    {
      title: 'Page size reductions per hour',
      description: 'How often the exporter requested smaller pages because the service rejected the size, by upstream.',
      unit: UNIT.short,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(
      `3600 * ${scope.rate('telemetry_station_exporter_page_size_reductions_total', ['upstream'])}`,
      '{{upstream}}',
    ),
  );

export const refreshesWaiting = (scope: Scope) =>
  timeseries(
    {
      title: 'Refreshes waiting',
      description: 'Due refreshes that wait for their first request, by upstream.',
      unit: UNIT.short,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(scope.total('telemetry_station_exporter_refreshes_waiting', ['upstream']), '{{upstream}}'),
  );

export const oldestWaitingRefresh = (scope: Scope) =>
  timeseries(
    {
      title: 'Oldest waiting refresh',
      description:
        'How long the first refresh in the queue has waited, in hours, minutes and seconds, by upstream. If it stays above `ttl`, the work exceeds the capacity.',
      unit: UNIT.clock,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(
      `max by (upstream) (${scope.series('telemetry_station_exporter_oldest_waiting_refresh_seconds')})`,
      '{{upstream}}',
    ),
  ).thresholds(ageThresholds());

export const hangingStations = (scope: Scope) =>
  timeseries(
    {
      title: 'Hanging stations',
      description: 'Stations whose requests hang: each has at most one probing request until it responds, by upstream.',
      unit: UNIT.short,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(scope.total('telemetry_station_exporter_hanging_stations', ['upstream']), '{{upstream}}'),
  );

export const queueTime = (scope: Scope) =>
  timeseries(
    {
      title: 'Queue time of a request',
      description: 'Average time that a request waits because of `concurrency` or the rate limit, by upstream.',
      unit: UNIT.seconds,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(
      `${scope.rate('telemetry_station_exporter_api_request_wait_seconds_total', ['upstream'])} / (${requestRate(scope)} > 0)`,
      '{{upstream}}',
    ),
  );

/** Forecast: what one refresh of every station takes at the present rate of requests. */
export function roundTime(scope: Scope) {
  const stations = scope.deduplicated('telemetry_station_listing_pages');
  const upstreams = `max by (job, station, upstream) (${scope.series('telemetry_station_info')})`;
  const pages = sumBy(['upstream'], `${stations} * on (job, station) group_left (upstream) ${upstreams}`);
  const limit = scope.total('telemetry_station_exporter_api_rate_limit', ['upstream']);
  return timeseries(
    {
      title: 'Time to refresh every station',
      description:
        'Forecast: the pages of all stations divided by the requests per second, and by the rate limit if there is one, by upstream, in hours, minutes and seconds. Above `ttl`, the data of all stations becomes older than `ttl`.',
      unit: UNIT.clock,
      noValue: NO_UPSTREAM,
    },
    rangeQuery(`${pages} / (${requestRate(scope)} > 0)`, '{{upstream}}: at the present rate'),
    rangeQuery(`${pages} / (${limit} < +Inf)`, '{{upstream}}: at the rate limit'),
  );
}
