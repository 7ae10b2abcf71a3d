import { READ_FIELDS, type ReadField } from '../station/listing.ts';
import { optionalSample, type Sample, snapshotFamily } from './family.ts';

/** What is published of a station as a whole while a snapshot of it is served. */
export const SNAPSHOT_FAMILIES = [
  snapshotFamily({
    name: 'telemetry_station_listing_complete',
    help: 'Whether the snapshot served is proven whole (1) or may miss resources (0).',
    type: 'gauge',
    labels: [],
    answers: 'which stations may miss resources',
    example: 'telemetry_station_listing_complete == 0',
    samples: ({ snapshot }) => [[snapshot.complete ? 1 : 0]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_reported_resources',
    help: 'The total that the service itself reported; absent when it gave none.',
    type: 'gauge',
    labels: [],
    answers: 'how many resources are short of the total that the service reports',
    example:
      'telemetry_station_listing_reported_resources - on (job, instance, station) sum by (job, instance, station) (telemetry_station_resources)',
    samples: ({ snapshot }) => optionalSample(snapshot.reportedTotal),
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_pages',
    help: 'Pages that the snapshot took, all listings together.',
    type: 'gauge',
    labels: [],
    answers: 'the ten stations whose listing takes the most pages',
    example: 'topk(10, telemetry_station_listing_pages)',
    samples: ({ snapshot }) => [[snapshot.pages]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_duplicate_resources',
    help: 'Records that came again under an id already taken.',
    type: 'gauge',
    labels: [],
    answers: 'where records come more than once',
    example: 'telemetry_station_listing_duplicate_resources > 0',
    samples: ({ snapshot }) => [[snapshot.duplicates]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_rejected_resources',
    help: 'Records without a usable resource_id.',
    type: 'gauge',
    labels: [],
    answers: 'where records have no usable id',
    example: 'telemetry_station_listing_rejected_resources > 0',
    samples: ({ snapshot }) => [[snapshot.rejected]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_invalid_fields',
    help: 'Field values that could not be read, by the name of the field in the reply.',
    type: 'gauge',
    labels: ['field'],
    answers: 'which fields could not be read, and how often',
    example: 'sum by (station, field) (telemetry_station_listing_invalid_fields) > 0',
    samples: ({ snapshot }) => READ_FIELDS.map((field: ReadField) => [snapshot.invalidFields[field], field]),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources',
    help: 'Resources attached to the station.',
    type: 'gauge',
    labels: ['resource_type', 'product', 'state'],
    answers: 'how many resources there are of each type',
    example: 'sum by (resource_type) (telemetry_station_resources)',
    samples: ({ aggregates }) =>
      [...aggregates.groups].flatMap(({ type, product, states }) =>
        Array.from(states, ([state, count]): Sample<[string, string, string]> => [count, type, product, state]),
      ),
  }),
  snapshotFamily({
    name: 'telemetry_station_alert_rules',
    help: 'Alert rules on the resources, added up.',
    type: 'gauge',
    labels: ['resource_type', 'product'],
    answers: 'how many alert rules there are for each resource',
    example: 'sum by (station) (telemetry_station_alert_rules) / sum by (station) (telemetry_station_resources)',
    samples: ({ aggregates }) =>
      [...aggregates.groups].flatMap(({ type, product, alertRules }) =>
        optionalSample(alertRules).map(([sum]) => [sum, type, product] as const),
      ),
  }),
  snapshotFamily({
    name: 'telemetry_station_alertable_resources',
    help: 'Resources that can have alerts; only for stations with alertability.',
    type: 'gauge',
    labels: ['resource_type', 'product'],
    answers: 'the share of alertable resources that have an alert rule',
    example:
      '1 - sum by (station) (telemetry_station_resources_without_alert_rules) / sum by (station) (telemetry_station_alertable_resources)',
    samples: ({ spec, aggregates }) =>
      spec.alertability ? [...aggregates.groups].map(({ type, product, alertable }) => [alertable, type, product] as const) : [],
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_without_alert_rules',
    help: 'Resources with no alert rule; with alertability, among those that can have alerts.',
    type: 'gauge',
    labels: ['resource_type', 'product'],
    answers: 'how many resources nobody watches, by type',
    example: 'sum by (station, resource_type) (telemetry_station_resources_without_alert_rules) > 0',
    samples: ({ aggregates }) =>
      [...aggregates.groups].flatMap(({ type, product, withoutRules: unwatched }) =>
        optionalSample(unwatched).map(([count]) => [count, type, product] as const),
      ),
  }),
  snapshotFamily({
    name: 'telemetry_station_sku_quantity',
    help: 'Quantities stated by the skus, added up by unit.',
    type: 'gauge',
    labels: ['resource_type', 'product', 'gpu_model', 'unit'],
    answers: 'how many GPUs there are of each model',
    example: 'sum by (gpu_model) (telemetry_station_sku_quantity{unit="GPU"})',
    samples: ({ aggregates }) =>
      [...aggregates.groups].flatMap(({ type, product, quantities }) =>
        [...quantities].flatMap(([gpuModel, units]) => Array.from(units, ([unit, sum]) => [sum, type, product, gpuModel, unit] as const)),
      ),
  }),
  snapshotFamily({
    name: 'telemetry_station_resource_type_info',
    help: 'The human-readable label of a resource type.',
    type: 'gauge',
    labels: ['resource_type', 'resource_type_label'],
    answers: 'resources by the label of their type instead of its key',
    example:
      'sum by (job, instance, station, resource_type) (telemetry_station_resources) * on (job, instance, station, resource_type) group_left (resource_type_label) telemetry_station_resource_type_info',
    samples: ({ aggregates }) => Array.from(aggregates.typeLabels, ([type, label]) => [1, type, label] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_added_total',
    help: 'Resources that appeared since the start; counted between complete snapshots only.',
    type: 'counter',
    labels: ['resource_type'],
    answers: 'how many resources came within a day, by type',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_added_total[1d]))',
    samples: ({ churn }) => Array.from(churn.added, ([type, count]) => [count, type] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_removed_total',
    help: 'Resources that went since the start; a failed or incomplete listing never counts as removal.',
    type: 'counter',
    labels: ['resource_type'],
    answers: 'how many resources went within a day, by type',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_removed_total[1d]))',
    samples: ({ churn }) => Array.from(churn.removed, ([type, count]) => [count, type] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resource_state_changes_total',
    help: 'Changes of alert state since the start, by the state changed to.',
    type: 'counter',
    labels: ['resource_type', 'state'],
    answers: 'how often resources changed to each state within an hour',
    example: 'sum by (station, state) (increase(telemetry_station_resource_state_changes_total[1h]))',
    samples: ({ churn }) =>
      [...churn.stateChanges].flatMap(([type, states]) => Array.from(states, ([state, count]) => [count, type, state] as const)),
  }),
] as const;
