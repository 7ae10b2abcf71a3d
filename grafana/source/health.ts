import { GraphThresholdsStyleConfigBuilder, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import { ageThresholds, upMappings } from './appearance.ts';
import { bars, stat, timeline, timeseries } from './panel.ts';
import type { Scope } from './query.ts';
import { now, over } from './target.ts';
import { UNIT } from './units.ts';

export function dataAge(scope: Scope): string {
  return `time() - ${scope.each('telemetry_station_last_success_timestamp_seconds')}`;
}

export const oldestData = (scope: Scope) =>
  stat(
    {
      title: 'Oldest data',
      description:
        'How long ago the station that waits longest was last listed with success. Orange from 5 minutes, red from 15, when its data is about to go.',
      unit: UNIT.seconds,
      nothing: 'Never listed',
    },
    now(`max(${dataAge(scope)})`),
  )
    .thresholds(ageThresholds())
    .decimals(0);

export const upTimeline = (scope: Scope) =>
  timeline(
    {
      title: 'Stations up and failing',
      description: 'Whether the latest refresh of each station succeeded.',
      unit: UNIT.short,
      nothing: 'No stations',
    },
    over(scope.each('telemetry_station_up'), '{{station}}'),
  ).mappings(upMappings);

export const failuresByReason = (scope: Scope) =>
  bars(
    {
      title: 'Failing stations by reason',
      description: 'Stations whose latest refresh failed, by the reason.',
      unit: UNIT.short,
      nothing: 'No station fails',
    },
    over(`${scope.sum('telemetry_station_failure', ['reason'])} > 0`, '{{reason}}'),
  );

export const ageByStation = (scope: Scope) =>
  timeseries(
    {
      title: 'Age of the data',
      description:
        'How long ago each station was last listed with success. The line at 15 minutes is where its data is about to go by default.',
      unit: UNIT.seconds,
      nothing: 'Never listed',
    },
    over(dataAge(scope), '{{station}}'),
  )
    .thresholds(ageThresholds())
    .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));

export const refreshDuration = (scope: Scope) =>
  timeseries(
    {
      title: 'Duration of refreshes',
      description: 'How long the latest refresh of each station took, all its listings together.',
      unit: UNIT.seconds,
      nothing: 'Never tried',
    },
    over(scope.each('telemetry_station_refresh_duration_seconds'), '{{station}}'),
  );
