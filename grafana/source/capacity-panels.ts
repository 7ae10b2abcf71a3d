import { labelList } from '../../prometheus/promql/cluster.ts';
import { DEFAULT_PARAMETERS } from '../../prometheus/source/parameters.ts';
import { CAPACITY, capacityMappings, DASHED, HUE, shadesOf, thresholds, UNIT } from './appearance.ts';
import { CLUSTER_COLUMN, JOB_COLUMN, table, timeseries } from './panel.ts';
import { BY_STATION, BY_TARGET, rangeQuery, type Scope, sumBy, tableQuery } from './query.ts';

/** The table has a row per job, charts add up the jobs. */
type By = readonly ('job' | 'upstream')[];
const LEGEND = '{{upstream}}';
const CHART: By = ['upstream'];

const requestRate = (scope: Scope, by: By) => scope.rate('telemetry_station_exporter_api_requests_total', by);
/** Of the exporters that have a limit: with one that has none, the sum would be infinite. */
const limit = (scope: Scope, by: By) =>
  sumBy(by, `${scope.series('telemetry_station_exporter_api_rate_limit')} < +Inf`);
const oldestWaiting = (scope: Scope, by: By) =>
  `max by ${labelList(...by)} (${scope.series('telemetry_station_exporter_oldest_waiting_refresh_seconds')})`;
const throttledShare = (scope: Scope, by: By) =>
  `${scope.rate('telemetry_station_exporter_api_requests_throttled_total', by)} / (${requestRate(scope, by)} > 0)`;

/** What one refresh of every station takes at the present rate of requests. */
function roundTime(scope: Scope, by: By): string {
  const stations = scope.deduplicated('telemetry_station_listing_pages');
  const upstreams = `max by ${labelList('job', 'station', 'upstream')} (${scope.series('telemetry_station_info')})`;
  const pages = sumBy(by, `${stations} * on ${BY_STATION} group_left (upstream) ${upstreams}`);
  return `${pages} / (${requestRate(scope, by)} > 0)`;
}

/**
 * The worst of all exporters of an upstream. The queue of one that is too small does not become empty. What an exporter said before it went
 * down says nothing about now.
 */
function capacity(scope: Scope, by: By): string {
  const queue = scope.series('telemetry_station_exporter_refreshes_waiting');
  const isUp = (value: 0 | 1) => `and on ${BY_TARGET} (${scope.series('up')} == ${value})`;
  const tooSmall = `(min_over_time(${queue}[15m]) > bool 0) and ${queue} ${isUp(1)}`;
  const throttled = `0 * (${throttledShare(scope, by)} > ${THROTTLED_SHARE}) + ${CAPACITY.throttled}`;
  const unknown = `0 * last_over_time(${queue}[$__range]) + ${CAPACITY.unknown} ${isUp(0)}`;
  return `max by ${labelList(...by)} (${tooSmall} or ${throttled} or ${unknown})`;
}

export function capacityByUpstream(scope: Scope) {
  const by: By = ['job', 'upstream'];
  return table(
    {
      title: 'Capacity by upstream',
      description:
        'Whether an upstream is too small: refreshes have waited for it for 15 minutes without a break. `Unknown`: one of its exporters is down. Limit: `requests_per_second`, or what the service accepts, of the exporters that have a limit. Waiting: refreshes; hanging: stations that do not reply. Raise `concurrency` or `page_size`, raise `cache.ttl`, or add shards.',
    },
    [
      tableQuery(capacity(scope, by)),
      tableQuery(requestRate(scope, by)),
      tableQuery(limit(scope, by)),
      tableQuery(throttledShare(scope, by)),
      tableQuery(scope.total('telemetry_station_exporter_refreshes_waiting', by)),
      tableQuery(oldestWaiting(scope, by)),
      tableQuery(scope.total('telemetry_station_exporter_hanging_stations', by)),
      tableQuery(roundTime(scope, by)),
    ],
    [
      { field: 'upstream', title: 'Upstream' },
      JOB_COLUMN,
      CLUSTER_COLUMN,
      { field: 'Value #A', title: 'Capacity', mappings: capacityMappings, width: 105 },
      { field: 'Value #B', title: 'Requests', unit: UNIT.requestsPerSecond, decimals: 1, width: 105 },
      { field: 'Value #C', title: 'Limit', unit: UNIT.requestsPerSecond, decimals: 1, width: 105 },
      { field: 'Value #D', title: 'Throttled', unit: UNIT.ratio, decimals: 1, thresholds: throttled(), width: 105 },
      { field: 'Value #E', title: 'Waiting', unit: UNIT.count, width: 100 },
      { field: 'Value #F', title: 'Longest wait', unit: UNIT.seconds, decimals: 0, width: 135 },
      { field: 'Value #G', title: 'Hanging', unit: UNIT.count, width: 100 },
      { field: 'Value #H', title: 'Refresh of all', unit: UNIT.seconds, decimals: 0, width: 130 },
    ],
    { by: 'Value #A', descending: true, limit: 100 },
  );
}

const THROTTLED_SHARE = DEFAULT_PARAMETERS.TelemetryStationApiThrottled.share;
const throttled = () => thresholds([0, 'green'], [THROTTLED_SHARE, 'dark-orange']);

/** A limit that is more times the requests than this has no line, which would press that of the requests to the bottom of the chart. */
const FAR_ABOVE = 5;

export const rateLimit = (scope: Scope) =>
  timeseries(
    {
      title: 'Requests and rate limit',
      description:
        'Requests per second to each upstream, and the limit of the exporters that keep one: `requests_per_second`, or what the service accepts. No line for a limit that is more than five times the requests.',
      unit: UNIT.requestsPerSecond,
    },
    rangeQuery(requestRate(scope, CHART), `${LEGEND}: requests`),
    rangeQuery(`${limit(scope, CHART)} <= ${FAR_ABOVE} * ${requestRate(scope, CHART)}`, `${LEGEND}: limit`),
  ).overrideByRegexp('/: limit$/', [DASHED, shadesOf(HUE.purple)]);

export const throttledRequests = (scope: Scope) =>
  timeseries(
    {
      title: 'Throttled requests',
      description: 'Share of the requests that the service answered with 429 or Retry-After, by upstream.',
      unit: UNIT.ratio,
    },
    rangeQuery(throttledShare(scope, CHART), LEGEND),
  );

export const oldestWaitingRefresh = (scope: Scope) =>
  timeseries(
    {
      title: 'Oldest waiting refresh',
      description:
        'How long the first refresh in the queue has waited, in hours, minutes and seconds, by upstream. If it stays above `ttl`, the work exceeds the capacity.',
      unit: UNIT.clock,
    },
    rangeQuery(oldestWaiting(scope, CHART), LEGEND),
  );

export const timeToRefresh = (scope: Scope) =>
  timeseries(
    {
      title: 'Time to refresh every station',
      description:
        'Forecast: the pages of all stations divided by the requests per second, by upstream, in hours, minutes and seconds. Above `ttl`, the data of all stations becomes older than `ttl`.',
      unit: UNIT.clock,
    },
    rangeQuery(roundTime(scope, CHART), LEGEND),
  );
