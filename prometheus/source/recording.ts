import { BY_STATION, BY_TYPE, each, type RuleGroup } from './rule.ts';

/** The names under which alerts find what is recorded. */
export const RECORDED = {
  resources: 'job_station:telemetry_station_resources:sum',
  resourcesByType: 'job_station_resource_type:telemetry_station_resources:sum',
  resourcesByState: 'job_station_state:telemetry_station_resources:sum',
  coverage: 'job_station:telemetry_station_alert_coverage:ratio',
  coverageByType: 'job_station_resource_type:telemetry_station_alert_coverage:ratio',
  age: 'job_station:telemetry_station_data_age:seconds',
  capacity: 'job_station_gpu_model_unit:telemetry_station_sku_quantity:sum',
} as const;

const resources = each('telemetry_station_resources');
const without = `sum by ${BY_TYPE} (${each('telemetry_station_resources_without_alert_rules')})`;
const alertable = `sum by ${BY_TYPE} (${each('telemetry_station_alertable_resources')})`;
const all = `sum by ${BY_TYPE} (${resources})`;

const typeCoverage = `1 - ${without}
/
(
  (
    ${alertable}
    or
    ${all}
  ) > 0
)`;

/** Groups of which no rule count is known are in neither number. */
const stationCoverage = `1 - sum by ${BY_STATION} (
  ${without}
)
/
(
  sum by ${BY_STATION} (
    (
      ${alertable}
      or
      ${all}
    )
    and
    ${without}
  ) > 0
)`;

export const recordingRules: RuleGroup = {
  name: 'telemetry-station-recording',
  rules: [
    {
      record: RECORDED.resources,
      about: 'Resources of a station: 0, not nothing, for one that was listed and has none.',
      expr: `sum by ${BY_STATION} (${resources})
or
0 * ${each('telemetry_station_listing_complete')}`,
    },
    { record: RECORDED.resourcesByType, about: 'Resources by type.', expr: all },
    {
      record: RECORDED.resourcesByState,
      about: 'Resources by alert state.',
      expr: `sum by (job, station, state) (${resources})`,
    },
    {
      record: RECORDED.coverage,
      about: 'The share of resources with an alert rule: of those that can have alerts, or of all where that is not known.',
      expr: stationCoverage,
    },
    { record: RECORDED.coverageByType, about: 'The same by type; types that cannot have alerts are left out.', expr: typeCoverage },
    {
      record: RECORDED.age,
      about: 'How long ago a station was last listed with success.',
      expr: `time() - ${each('telemetry_station_last_success_timestamp_seconds')}`,
    },
    {
      record: RECORDED.capacity,
      about: 'The quantities that skus state, by GPU model and unit.',
      expr: `sum by (job, station, gpu_model, unit) (${each('telemetry_station_sku_quantity')})`,
    },
  ],
};
