import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { ageThresholds, UNIT, upMappings } from './appearance.ts';
import { colorReasons, stackedBars, stat, stateTimeline, timeseries } from './panel.ts';
import { instantQuery, orNone, rangeQuery, type Scope } from './query.ts';

/** Seconds since the last successful refresh of each station; a refresh may succeed after the scrape's timestamp. */
export function dataAge(scope: Scope): string {
  return `clamp_min(time() - ${scope.deduplicated('telemetry_station_last_success_timestamp_seconds')}, 0)`;
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

export function upTimeline(scope: Scope) {
  const up = scope.deduplicated('telemetry_station_up');
  const average = `max by (job, station) (avg_over_time(${scope.series('telemetry_station_up')}[$__range] @ end()))`;
  return stateTimeline(
    {
      title: 'Refresh status by station',
      description:
        'Whether the latest refresh succeeded: the 20 stations that failed most often within the time range.',
      unit: UNIT.short,
      noValue: 'No stations',
    },
    rangeQuery(`${up} and on (job, station) bottomk(20, ${average})`, '{{station}}'),
  ).mappings(upMappings);
}

export const failuresByReason = (scope: Scope) =>
  colorReasons(
    stackedBars(
      {
        title: 'Failing stations by reason',
        description: 'Stations whose latest refresh failed, by reason. `none`: no station fails.',
        unit: UNIT.short,
        noValue: 'No stations',
      },
      rangeQuery(
        orNone(
          `${scope.sum('telemetry_station_failure', ['reason'])} > 0`,
          'reason',
          scope.series('telemetry_station_up'),
        ),
        '{{reason}}',
      ),
    ),
  );

export const ageByStation = (scope: Scope) =>
  timeseries(
    {
      title: 'Data age',
      description:
        'Time since the last successful refresh in hours, minutes and seconds: the 20 oldest. The line at 15 minutes is the default of `max_stale`: older data is no longer published.',
      unit: UNIT.clock,
      noValue: 'Never refreshed',
    },
    rangeQuery(`topk(20, ${dataAge(scope)})`, '{{station}}'),
  )
    .thresholds(ageThresholds())
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

export const refreshDuration = (scope: Scope) =>
  timeseries(
    {
      title: 'Refresh duration',
      description: 'Duration of the latest refresh, including all listings: the 20 longest.',
      unit: UNIT.seconds,
      noValue: 'Never refreshed',
    },
    rangeQuery(`topk(20, ${scope.deduplicated('telemetry_station_refresh_duration_seconds')})`, '{{station}}'),
  );
