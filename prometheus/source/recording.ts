import { labelList } from '../promql/cluster.ts';
import { deduplicate, labelsOf, type MetricName } from '../promql/metric.ts';
import {
  BY_STATION,
  BY_TYPE,
  deduplicated,
  LISTING_ADDS_UP,
  LISTING_COMPLETE,
  metric,
  NO_OTHER_REASON,
  type RecordingRule,
  type RuleGroup,
  SAME_RESOURCE,
} from './rule.ts';

/** Names of the recorded series. */
export const RECORDED = {
  resources: 'cluster_job_station:telemetry_station_resources:sum',
  resourcesByType: 'cluster_job_station_resource_type:telemetry_station_resources:sum',
  resourcesByAlertState: 'cluster_job_station_alert_state:telemetry_station_resources:sum',
  coverage: 'cluster_job_station:telemetry_station_alert_coverage:ratio',
  coverageByType: 'cluster_job_station_resource_type:telemetry_station_alert_coverage:ratio',
  age: 'cluster_job_station:telemetry_station_data_age:seconds',
  capacity: 'cluster_job_station_gpu_model_unit:telemetry_station_sku_quantity:sum',
  comparable: 'cluster_job_station_rejected_records:telemetry_station_listing:comparable',
  comparableResources: 'cluster_job_station:telemetry_station_resources:last_comparable',
  comparableResourcesByOwner: 'cluster_job_station_owner:telemetry_station_resources:last_comparable',
  comparableCapacity: 'cluster_job_station_gpu_model_unit:telemetry_station_sku_quantity:last_comparable',
  comparableCapacityByOwner: 'cluster_job_station_owner_gpu_model_unit:telemetry_station_sku_quantity:last_comparable',
  comparableWithoutRules:
    'cluster_job_station_resource_type:telemetry_station_resources_without_alert_rules:last_comparable',
  comparableWithoutRulesByOwner:
    'cluster_job_station_resource_type_owner:telemetry_station_resources_without_alert_rules:last_comparable',
  oldestWithoutRules:
    'cluster_job_station_owner:telemetry_station_resource_created_timestamp_seconds:oldest_without_alert_rules',
  // Of the optional rules.
  notMonitored: 'cluster_job_station_resource_type_owner:telemetry_station_resource_info:count_not_monitored',
  expected: 'cluster_station_gpu_model_unit:telemetry_station_sku_quantity:expected',
  price: 'gpu_model_unit:telemetry_station_sku_quantity:price_per_hour',
  cost: 'cluster_job_station_owner:telemetry_station_sku_quantity:cost_per_hour',
} as const;

const resources = deduplicated('telemetry_station_resources');
const resourcesByType = `sum by ${BY_TYPE} (${resources})`;
const withRules = deduplicated('telemetry_station_resources_with_alert_rules');
const withoutRules = deduplicated('telemetry_station_resources_without_alert_rules');

/** Resources of which it is unknown whether they have alert rules are on neither side of the ratio. */
const coverageBy = (labels: string) => `sum by ${labels} (${withRules})
/
(
  sum by ${labels} (${withRules})
  +
  sum by ${labels} (${withoutRules})
  > 0
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

/** Sum of the quantities by these labels, `unit` among them: sizes in GiB or GB. */
function capacityBy(...labels: readonly string[]): string {
  const name = metric('telemetry_station_sku_quantity');
  const furtherLabels = labels.filter((label) => label !== 'job' && !labelsOf(name).includes(label));
  const quantities = (matcher: string) => deduplicate(name, `${name}{unit${matcher}}`, furtherLabels);
  const converted = SIZES.map(([unit, factor, base]) => {
    // The label `size` keeps series of the same base unit apart until they are added.
    const inUnit = `label_replace(${quantities(`="${unit}"`)}, "size", "${unit}", "", "")`;
    return `label_replace(${inUnit} ${factor}, "unit", "${base}", "", "")`;
  });
  const otherUnits = quantities(`!~"${SIZES.map(([unit]) => unit).join('|')}"`);
  return `sum by ${labelList(...labels)} (
  ${[otherUnits, ...converted].join('\n  or\n  ')}
)`;
}

/** Sum by these labels of what each target exposes; of replicas the largest sum counts. */
function sumPerTarget(name: MetricName, labels: readonly string[]): string {
  return `max by ${labelList(...labels)} (sum by ${labelList('instance', ...labels)} (${name}))`;
}

export function withoutRulesBy(...labels: readonly string[]): string {
  return sumPerTarget('telemetry_station_resources_without_alert_rules', labels);
}

export function resourcesByOwner(ownerLabel: string): string {
  return sumPerTarget('telemetry_station_resources', ['job', 'station', ownerLabel]);
}

export const TYPE_LABELS = ['job', 'station', 'resource_type'] as const;

const rejectedRecords = metric('telemetry_station_listing_rejected_resources');

/**
 * Two listings are compared if they rejected the same number of records, the value of the label `rejected_records`. Which records those are is
 * not in the metrics: a number above 0 must not have changed for six hours, so that the same ones were probably rejected.
 */
const comparable: RecordingRule = {
  record: RECORDED.comparable,
  comment:
    'Listings that alerts on changes compare, by their number of rejected records: those that are verified complete, and those that add up if the number has not changed for six hours.',
  expr: `count_values by ${BY_STATION} ("rejected_records",
  0 * (${LISTING_COMPLETE})
  or
  (
    ${deduplicated('telemetry_station_listing_rejected_resources')}
    and on ${BY_STATION}
    ${NO_OTHER_REASON}
    and on ${BY_STATION}
    max by ${BY_STATION} (max_over_time(${rejectedRecords}[6h])) == min by ${BY_STATION} (min_over_time(${rejectedRecords}[6h]))
  )
)`,
};

/**
 * What the last comparable listing of each station says. Between two of them there may be hours of incomplete or failed ones, so that the series
 * keeps its own last value while the station is configured.
 */
function lastComparable(record: string, comment: string, current: string): RecordingRule {
  return {
    record,
    comment,
    expr: `${current}
* on ${BY_STATION} group_left (rejected_records)
${RECORDED.comparable}
or
${lastValue(record, RECORDED.comparable)}`,
  };
}

const lastResources = `last_over_time(${RECORDED.comparableResources}[1h])`;

/** Resources and rejected records of the listing: no more can be in the station. */
const listedRecords = `${RECORDED.resources} + ${deduplicated('telemetry_station_listing_rejected_resources')}`;

/** Holds while the missing resources of a station may be among its rejected records. */
const maybeRejected = `(
  ${lastResources}
  > ${RECORDED.resources}
  <= ${listedRecords}
)`;

/** The resources of the last listing that adds up. A smaller number is not taken while rejected records explain the difference. */
const comparableResources: RecordingRule = {
  record: RECORDED.comparableResources,
  comment:
    'Resources of the last listing that adds up; as many as before while the resources that are missing may be among the rejected records.',
  expr: `${maybeRejected}
or
(
  ${RECORDED.resources}
  and on ${BY_STATION}
  ${indented(LISTING_ADDS_UP)}
)
or
${lastValue(RECORDED.comparableResources, LISTING_ADDS_UP)}`,
};

const comparableResourcesByOwner = (ownerLabel: string): RecordingRule => ({
  record: RECORDED.comparableResourcesByOwner,
  comment:
    'Resources of each owner in the last listing that adds up; as many as before for the same time as those of the station.',
  expr: `(
  ${RECORDED.comparableResourcesByOwner}
  and on ${BY_STATION}
  ${indented(maybeRejected)}
)
or
(
  ${resourcesByOwner(ownerLabel)}
  and on ${BY_STATION}
  ${indented(LISTING_ADDS_UP)}
)
or
${lastValue(RECORDED.comparableResourcesByOwner, LISTING_ADDS_UP)}`,
});

/**
 * The last value of a series while its station is configured and has no listing to compare. The selector has no range: what ended in a listing
 * that was compared must not come back.
 */
export function lastValue(record: string, compared: string): string {
  return `(
  ${record}
  and on ${BY_STATION}
  ${deduplicated('telemetry_station_up')}
  unless on ${BY_STATION}
  ${indented(compared)}
)`;
}

export function indented(expression: string): string {
  return expression.replaceAll('\n', '\n  ');
}

export const recordingRules = (ownerLabel: string): RuleGroup => ({
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
      record: RECORDED.resourcesByAlertState,
      comment:
        'Resources by station and by what their states mean; 0 firing ones where none fires, so that the last value is the last one known.',
      expr: `sum by ${labelList('job', 'station', 'alert_state')} (${resources})
or
label_replace(0 * ${deduplicated('telemetry_station_listing_complete')}, "alert_state", "firing", "", "")`,
    },
    {
      record: RECORDED.coverage,
      comment:
        'Share of resources with an alert rule among those with and those without; with alertability, of the alertable ones.',
      expr: coverageBy(BY_STATION),
    },
    {
      record: RECORDED.coverageByType,
      comment: 'Alert coverage by type, without types of which no resource is known to be with or without alert rules.',
      expr: coverageBy(BY_TYPE),
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
      expr: capacityBy('job', 'station', 'gpu_model', 'unit'),
    },
    comparableResources,
    comparableResourcesByOwner(ownerLabel),
    comparable,
    lastComparable(RECORDED.comparableCapacity, 'Capacity in the last comparable listing.', RECORDED.capacity),
    lastComparable(
      RECORDED.comparableCapacityByOwner,
      'The same by owner.',
      capacityBy('job', 'station', ownerLabel, 'gpu_model', 'unit'),
    ),
    lastComparable(
      RECORDED.comparableWithoutRules,
      'Resources without alert rules in the last comparable listing, by type.',
      withoutRulesBy(...TYPE_LABELS),
    ),
    lastComparable(
      RECORDED.comparableWithoutRulesByOwner,
      'The same by type and owner.',
      withoutRulesBy(...TYPE_LABELS, ownerLabel),
    ),
  ],
});

/** Reads the series of each resource, which change slowly. */
export const coverageRules = (ownerLabel: string): RuleGroup => ({
  name: 'telemetry-station-coverage',
  interval: '2m',
  rules: [
    {
      record: RECORDED.oldestWithoutRules,
      comment: 'When the oldest alertable resource without alert rules was created, by owner.',
      expr: `min by ${labelList('job', 'station', ownerLabel)} (
  ${metric('telemetry_station_resource_created_timestamp_seconds')}
  * ${SAME_RESOURCE} group_left (${ownerLabel})
  ${metric('telemetry_station_resource_info')}{alertable="true"}
  and ${SAME_RESOURCE}
  ${metric('telemetry_station_resource_alert_rules')} == 0
)`,
    },
  ],
});
