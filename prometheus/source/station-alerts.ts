import { RECORDED } from './recording.ts';
import { BY_STATION, deduplicated, metric, type RuleGroup } from './rule.ts';

/** Stations that cannot be refreshed or listed completely. */
export const stationAlerts: RuleGroup = {
  name: 'telemetry-station-stations',
  rules: [
    {
      alert: 'TelemetryStationDown',
      comment: 'A reason stays active for five minutes, so that alternating reasons do not reset the `for` clause.',
      expr: `max by (job, station, reason) (max_over_time(${metric('telemetry_station_failure')}[5m])) == 1
and on ${BY_STATION}
${deduplicated('telemetry_station_up')} == 0`,
      for: '10m',
      severity: 'warning',
      summary: 'Telemetry station cannot be refreshed.',
      description: 'All refreshes of station {{ $labels.station }} have failed for 10 minutes (reason: {{ $labels.reason }}).',
    },
    {
      alert: 'TelemetryStationDataStale',
      comment: 'Fifteen minutes is the default of max_stale: older data is no longer published.',
      expr: `${RECORDED.age} > 900`,
      for: '5m',
      severity: 'critical',
      summary: 'Telemetry station data is stale.',
      description: 'The last successful refresh of station {{ $labels.station }} was {{ $value | humanizeDuration }} ago.',
    },
    {
      alert: 'TelemetryStationListingIncomplete',
      comment: 'A single incomplete listing is normal while resources are added and removed.',
      expr: `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 0`,
      for: '15m',
      severity: 'warning',
      summary: 'Telemetry station listing is incomplete.',
      description:
        'No listing of station {{ $labels.station }} has been verified complete for 15 minutes. Resources may be missing from its metrics.',
    },
    {
      alert: 'TelemetryStationRecordsRejected',
      comment: 'Rejected records are not included in any other metric.',
      expr: `${deduplicated('telemetry_station_listing_rejected_resources')} > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'Telemetry station lists records without a usable id.',
      description: '{{ $value }} records of station {{ $labels.station }} have no usable resource_id and are not counted as resources.',
    },
    {
      alert: 'TelemetryStationNoStations',
      comment: 'Evaluated per job, because a single shard may have no stations.',
      expr: `count by (job) (${metric('telemetry_station_exporter_build_info')})
unless on (job)
count by (job) (${metric('telemetry_station_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'Telemetry station exporter publishes no stations.',
      description: 'Exporters of job {{ $labels.job }} are up but publish no stations.',
    },
  ],
};
