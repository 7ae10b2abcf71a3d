import { deduplicate } from '../promql/metric.ts';
import { BY_STATION, BY_TYPE, deduplicated, metric, type RuleGroup } from './rule.ts';

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

/** Sizes in one unit: a disk that grows from 512 GiB to 1 TiB loses no capacity. */
const SIZES: readonly (readonly [unit: string, factor: string, base: string])[] = [
  ['MiB', '/ 1024', 'GiB'],
  ['TiB', '* 1024', 'GiB'],
  ['PiB', '* 1048576', 'GiB'],
  ['MB', '/ 1000', 'GB'],
  ['TB', '* 1000', 'GB'],
  ['PB', '* 1000000', 'GB'],
];

const quantities = (matcher: string) =>
  deduplicate('telemetry_station_sku_quantity', `${metric('telemetry_station_sku_quantity')}{unit${matcher}}`);
const converted = SIZES.map(([unit, factor, base]) => {
  // The label `size` keeps series of the same base unit apart until they are added.
  const inUnit = `label_replace(${quantities(`="${unit}"`)}, "size", "${unit}", "", "")`;
  return `label_replace(${inUnit} ${factor}, "unit", "${base}", "", "")`;
});
const otherUnits = quantities(`!~"${SIZES.map(([unit]) => unit).join('|')}"`);

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
      comment:
        'Time since the last successful refresh of a station, which may be later than the timestamp of its scrape.',
      expr: `clamp_min(time() - ${deduplicated('telemetry_station_last_success_timestamp_seconds')}, 0)`,
    },
    {
      record: RECORDED.capacity,
      comment: 'Sum of the SKU quantities by GPU model and unit; sizes in GiB or GB.',
      expr: `sum by (job, station, gpu_model, unit) (
  ${[otherUnits, ...converted].join('\n  or\n  ')}
)`,
    },
  ],
};
