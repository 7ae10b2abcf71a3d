import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { ageThresholds, UNIT, upMappings } from './appearance.ts';
import { stackedBars, stat, stateTimeline, timeseries } from './panel.ts';
import { instantQuery, rangeQuery, type Scope } from './query.ts';

/** Seconds since the last successful refresh of each station. */
export function dataAge(scope: Scope): string {
  return `time() - ${scope.deduplicated('telemetry_station_last_success_timestamp_seconds')}`;
}

export const oldestData = (scope: Scope) =>
  stat(
    {
      title: 'Oldest data',
      description:
        'Longest time since the last successful refresh of a station. Orange from 5 minutes, red from 15 minutes, the default of `max_stale`.',
      unit: UNIT.seconds,
      noValue: 'Never refreshed',
    },
    instantQuery(`max(${dataAge(scope)})`),
  )
    .thresholds(ageThresholds())
    .decimals(0);

export const upTimeline = (scope: Scope) =>
  stateTimeline(
    {
      title: 'Refresh status by station',
      description: 'Whether the latest refresh of each station succeeded.',
      unit: UNIT.short,
      noValue: 'No stations',
    },
    rangeQuery(scope.deduplicated('telemetry_station_up'), '{{station}}'),
  ).mappings(upMappings);

export const failuresByReason = (scope: Scope) =>
  stackedBars(
    {
      title: 'Failing stations by reason',
      description: 'Stations whose latest refresh failed, by reason.',
      unit: UNIT.short,
      noValue: 'No failures',
    },
    rangeQuery(`${scope.sum('telemetry_station_failure', ['reason'])} > 0`, '{{reason}}'),
  );

export const ageByStation = (scope: Scope) =>
  timeseries(
    {
      title: 'Data age',
      description:
        'Time since the last successful refresh of each station. The line at 15 minutes is the default of `max_stale`: older data is no longer published.',
      unit: UNIT.seconds,
      noValue: 'Never refreshed',
    },
    rangeQuery(dataAge(scope), '{{station}}'),
  )
    .thresholds(ageThresholds())
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

export const refreshDuration = (scope: Scope) =>
  timeseries(
    {
      title: 'Refresh duration',
      description: 'Duration of the latest refresh of each station, including all its listings.',
      unit: UNIT.seconds,
      noValue: 'Never refreshed',
    },
    rangeQuery(scope.deduplicated('telemetry_station_refresh_duration_seconds'), '{{station}}'),
  );
