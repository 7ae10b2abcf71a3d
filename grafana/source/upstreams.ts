import { bars, stacked, timeseries } from './panel.ts';
import type { Scope } from './query.ts';
import { over } from './target.ts';
import { UNIT } from './units.ts';

const nothing = 'No requests';

export const requests = (scope: Scope) =>
  stacked(
    {
      title: 'Requests',
      description: 'Requests sent to the service, retries included, by upstream.',
      unit: UNIT.requestsPerSecond,
      nothing,
    },
    over(scope.rate('telemetry_station_exporter_api_requests_total', ['upstream']), '{{upstream}}'),
  );

export const failures = (scope: Scope) =>
  bars(
    {
      title: 'Failures by reason',
      description: 'Requests that failed, by upstream and reason. `rate_limited` means that the service asks for fewer requests.',
      unit: UNIT.requestsPerSecond,
      nothing: 'No request fails',
    },
    over(`${scope.rate('telemetry_station_exporter_api_request_failures_total', ['upstream', 'reason'])} > 0`, '{{upstream}}: {{reason}}'),
  );

export const retries = (scope: Scope) =>
  timeseries(
    { title: 'Retries', description: 'Requests sent again after a failure, by upstream.', unit: UNIT.requestsPerSecond, nothing },
    over(scope.rate('telemetry_station_exporter_api_request_retries_total', ['upstream']), '{{upstream}}'),
  );

const DURATION = 'telemetry_station_exporter_api_request_duration_seconds';

export const latency = (scope: Scope) =>
  timeseries(
    {
      title: 'Latency of requests',
      description: 'How long requests to the service take, body included: half, nine tenths and all but one in a hundred are faster.',
      unit: UNIT.seconds,
      nothing,
    },
    over(scope.quantile(0.5, DURATION), 'p50'),
    over(scope.quantile(0.9, DURATION), 'p90'),
    over(scope.quantile(0.99, DURATION), 'p99'),
  );

export const inFlight = (scope: Scope) =>
  timeseries(
    {
      title: 'In flight',
      description: 'Requests under way, by upstream; `concurrency` is the most there can be.',
      unit: UNIT.short,
      nothing,
    },
    over(scope.total('telemetry_station_exporter_api_requests_in_flight', ['upstream']), '{{upstream}}'),
  );

export const waiting = (scope: Scope) =>
  timeseries(
    {
      title: 'Waiting',
      description: 'Requests that wait for their turn under `concurrency` and `requests_per_second`, by upstream.',
      unit: UNIT.short,
      nothing,
    },
    over(scope.total('telemetry_station_exporter_api_requests_waiting', ['upstream']), '{{upstream}}'),
  );
