import { BY_STATION, BY_TYPE, deduplicated, type RuleGroup } from './rule.ts';

/** Names of the recorded series. */
export const RECORDED = {
  resources: 'job_station:telemetry_station_resources:sum',
  resourcesByType: 'job_station_resource_type:telemetry_station_resources:sum',
  resourcesByState: 'job_station_state:telemetry_station_resources:sum',
  coverage: 'job_station:telemetry_station_alert_coverage:ratio',
  coverageByType: 'job_station_resource_type:telemetry_station_alert_coverage:ratio',
  age: 'job_station:telemetry_station_data_age:seconds',
  capacity: 'job_station_gpu_model_unit:telemetry_station_sku_quantity:sum',
} as const;

const resources = deduplicated('telemetry_station_resources');
const resourcesByType = `sum by ${BY_TYPE} (${resources})`;
const alertableByType = `sum by ${BY_TYPE} (${deduplicated('telemetry_station_alertable_resources')})`;
const withoutRulesByType = `sum by ${BY_TYPE} (${deduplicated('telemetry_station_resources_without_alert_rules')})`;

const coverageByType = `1 - ${withoutRulesByType}
/
(
  (
    ${alertableByType}
    or
    ${resourcesByType}
  ) > 0
)`;

/** Types without known rule counts are excluded from both sides of the ratio. */
const coverage = `1 - sum by ${BY_STATION} (
  ${withoutRulesByType}
)
/
(
  sum by ${BY_STATION} (
    (
      ${alertableByType}
      or
      ${resourcesByType}
    )
    and
    ${withoutRulesByType}
  ) > 0
)`;

export const recordingRules: RuleGroup = {
  name: 'telemetry-station-recording',
  rules: [
    {
      record: RECORDED.resources,
      comment: 'Resources by station; 0 for a station whose listing is empty.',
      expr: `sum by ${BY_STATION} (${resources})
or
0 * ${deduplicated('telemetry_station_listing_complete')}`,
    },
    { record: RECORDED.resourcesByType, comment: 'Resources by station and type.', expr: resourcesByType },
    {
      record: RECORDED.resourcesByState,
      comment: 'Resources by station and alert state.',
      expr: `sum by (job, station, state) (${resources})`,
    },
    {
      record: RECORDED.coverage,
      comment: 'Share of resources with an alert rule; of the alertable resources where they are known.',
      expr: coverage,
    },
    {
      record: RECORDED.coverageByType,
      comment: 'Alert coverage by type, without types that have no alertable resources.',
      expr: coverageByType,
    },
    {
      record: RECORDED.age,
      comment: 'Time since the last successful refresh of a station.',
      expr: `time() - ${deduplicated('telemetry_station_last_success_timestamp_seconds')}`,
    },
    {
      record: RECORDED.capacity,
      comment: 'Sum of the SKU quantities by GPU model and unit.',
      expr: `sum by (job, station, gpu_model, unit) (${deduplicated('telemetry_station_sku_quantity')})`,
    },
  ],
};
