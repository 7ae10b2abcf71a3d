import { FAILURE_REASONS } from '../station/failure.ts';
import { healthFamily, optionalSample } from './family.ts';

/** The labels of this row are reserved: a station cannot configure one of them as an extra label. */
export const STATION_INFO = healthFamily({
  name: 'telemetry_station_info',
  help: 'The configured telemetry station; further labels come from its configuration.',
  type: 'gauge',
  labels: ['subscription', 'resource_group', 'zone', 'telemetry_station', 'upstream'],
  answers: 'how many stations are configured, by zone and upstream',
  example: 'count by (zone, upstream) (telemetry_station_info)',
  samples: ({ spec: { path, upstream } }) => [[1, path.subscription, path.resourceGroup, path.zone, path.telemetryStation, upstream]],
  extraLabels: ({ spec }) => spec.labels,
});

/** The families of a station that do not depend on a snapshot. */
export const HEALTH_FAMILIES = [
  STATION_INFO,
  healthFamily({
    name: 'telemetry_station_up',
    help: 'Whether the latest refresh of the station succeeded.',
    type: 'gauge',
    labels: [],
    answers: 'which stations cannot be listed at the moment',
    example: 'telemetry_station_up == 0',
    samples: ({ health }) => [[health.lastAttemptMs !== undefined && health.failure === undefined ? 1 : 0]],
  }),
  healthFamily({
    name: 'telemetry_station_failure',
    help: 'Why the latest refresh failed: 1 for its reason, 0 for the others.',
    type: 'gauge',
    labels: ['reason'],
    answers: 'why stations fail',
    example: 'count by (reason) (telemetry_station_failure == 1)',
    samples: ({ health }) => FAILURE_REASONS.map((reason) => [health.failure?.reason === reason ? 1 : 0, reason]),
  }),
  healthFamily({
    name: 'telemetry_station_last_success_timestamp_seconds',
    help: 'When the latest successful refresh ended; absent before the first one.',
    type: 'gauge',
    labels: [],
    answers: 'how old the numbers of each station are, in seconds',
    example: 'time() - telemetry_station_last_success_timestamp_seconds',
    samples: ({ health }) => optionalSample(seconds(health.lastSuccessMs)),
  }),
  healthFamily({
    name: 'telemetry_station_last_attempt_timestamp_seconds',
    help: 'When the latest refresh ended, successful or not.',
    type: 'gauge',
    labels: [],
    answers: 'which stations nobody has asked for in ten minutes',
    example: 'time() - telemetry_station_last_attempt_timestamp_seconds > 600',
    samples: ({ health }) => optionalSample(seconds(health.lastAttemptMs)),
  }),
  healthFamily({
    name: 'telemetry_station_refresh_duration_seconds',
    help: 'How long the latest refresh took.',
    type: 'gauge',
    labels: [],
    answers: 'the ten stations that take longest to list',
    example: 'topk(10, telemetry_station_refresh_duration_seconds)',
    samples: ({ health }) => optionalSample(seconds(health.durationMs)),
  }),
] as const;

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
