import { RECORDED } from './recording.ts';
import { BY_STATION, each, metric, type RuleGroup } from './rule.ts';

const failure = metric('telemetry_station_failure');

/** About stations that cannot be read, or not as a whole. */
export const stationAlerts: RuleGroup = {
  name: 'telemetry-station-stations',
  rules: [
    {
      alert: 'TelemetryStationDown',
      about: 'A reason counts for five minutes after it was seen, so that reasons which take turns do not begin the wait anew each time.',
      expr: `max by (job, station, reason) (max_over_time(${failure}[5m])) == 1
and on ${BY_STATION}
${each('telemetry_station_up')} == 0`,
      for: '10m',
      severity: 'warning',
      summary: 'A telemetry station cannot be listed.',
      description:
        'Every refresh of station {{ $labels.station }} has failed for 10 minutes, by now for the reason {{ $labels.reason }} (failure is {{ $value }}).',
    },
    {
      alert: 'TelemetryStationDataStale',
      about: 'Fifteen minutes is the default of max_stale, after which a station’s data is no longer published.',
      expr: `${RECORDED.age} > 900`,
      for: '5m',
      severity: 'critical',
      summary: 'The data of a telemetry station is out of date.',
      description: 'Station {{ $labels.station }} was last listed with success {{ $value | humanizeDuration }} ago.',
    },
    {
      alert: 'TelemetryStationListingIncomplete',
      about: 'One incomplete listing is common while resources come and go; one after the other is not.',
      expr: `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 0`,
      for: '15m',
      severity: 'warning',
      summary: 'A telemetry station cannot be listed as a whole.',
      description:
        'For 15 minutes no listing of station {{ $labels.station }} could be proven whole (listing_complete is {{ $value }}): resources may be missing.',
    },
    {
      alert: 'TelemetryStationRecordsRejected',
      about: 'A record without a usable id is in no other number.',
      expr: `${each('telemetry_station_listing_rejected_resources')} > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'A telemetry station sends records without a usable id.',
      description: '{{ $value }} records of station {{ $labels.station }} have no usable resource_id and are not counted.',
    },
    {
      alert: 'TelemetryStationNoStations',
      about: 'Of all processes of a job together: a shard may have none.',
      expr: `count by (job) (${metric('telemetry_station_exporter_build_info')})
unless on (job)
count by (job) (${metric('telemetry_station_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'The exporter publishes no telemetry station.',
      description: '{{ $value }} processes of job {{ $labels.job }} run, and none of them publishes a station.',
    },
  ],
};
