import { FAILURE_REASONS } from '../model/failure.ts';
import { healthFamily, optionalSample } from './family.ts';

/** The labels of this row are reserved: a station cannot configure one of them as an extra label. */
export const STATION_INFO = healthFamily({
  name: 'telemetry_station_info',
  help: 'Information about the configured telemetry station.',
  labels: ['subscription', 'resource_group', 'zone', 'telemetry_station', 'upstream'],
  exampleTitle: 'Stations by zone and upstream',
  example: 'count by (zone, upstream) (telemetry_station_info)',
  hasStationLabels: true,
  samples: ({ spec: { path, upstream } }) => [
    [1, path.subscription, path.resource_group, path.zone, path.telemetry_station, upstream],
  ],
});

/** The families of a station that do not depend on a snapshot. */
export const HEALTH_FAMILIES = [
  STATION_INFO,
  healthFamily({
    name: 'telemetry_station_up',
    help: 'Whether the last refresh of the station succeeded.',
    exampleTitle: 'Stations whose last refresh failed',
    example: 'telemetry_station_up == 0',
    samples: ({ health }) => [[health.lastAttemptMs !== undefined && health.failure === undefined ? 1 : 0]],
  }),
  healthFamily({
    name: 'telemetry_station_failure',
    help: 'Whether the last refresh failed for this reason.',
    labels: ['reason'],
    exampleTitle: 'Failing stations by reason',
    example: 'count by (reason) (telemetry_station_failure == 1)',
    samples: ({ health }) => FAILURE_REASONS.map((reason) => [health.failure?.reason === reason ? 1 : 0, reason]),
  }),
  healthFamily({
    name: 'telemetry_station_last_success_timestamp_seconds',
    help: 'Timestamp of the last successful refresh.',
    exampleTitle: 'Age of the data of each station in seconds',
    example: 'time() - telemetry_station_last_success_timestamp_seconds',
    samples: ({ health }) => optionalSample(seconds(health.lastSuccessMs)),
  }),
  healthFamily({
    name: 'telemetry_station_last_attempt_timestamp_seconds',
    help: 'Timestamp of the last refresh, successful or not.',
    exampleTitle: 'Stations not refreshed for ten minutes',
    example: 'time() - telemetry_station_last_attempt_timestamp_seconds > 600',
    samples: ({ health }) => optionalSample(seconds(health.lastAttemptMs)),
  }),
  healthFamily({
    name: 'telemetry_station_refresh_duration_seconds',
    help: 'Duration of the last refresh in seconds.',
    exampleTitle: 'Ten slowest stations',
    example: 'topk(10, telemetry_station_refresh_duration_seconds)',
    samples: ({ health }) => optionalSample(seconds(health.durationMs)),
  }),
] as const;

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
