import { LISTING_FIELDS, type ListingField } from '../model/listing.ts';
import { groupFamily, optionalSample, snapshotFamily } from './family.ts';

/** The families of a station that are published while it has a snapshot. */
export const SNAPSHOT_FAMILIES = [
  snapshotFamily({
    name: 'telemetry_station_listing_complete',
    help: 'Whether the listing was verified complete as of the last successful refresh.',
    exampleTitle: 'Stations that may be missing resources',
    example: 'telemetry_station_listing_complete == 0',
    samples: ({ snapshot }) => [[snapshot.complete ? 1 : 0]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_reported_resources',
    help: 'Total number of resources reported by the service as of the last successful refresh.',
    exampleTitle: 'Resources missing from the reported total',
    example:
      'telemetry_station_listing_reported_resources - on (job, instance, station) sum by (job, instance, station) (telemetry_station_resources)',
    samples: ({ snapshot }) => optionalSample(snapshot.reportedTotal),
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_pages',
    help: 'Pages fetched by the last successful refresh, all listings included.',
    exampleTitle: 'Ten stations with the most pages',
    example: 'topk(10, telemetry_station_listing_pages)',
    samples: ({ snapshot }) => [[snapshot.pages]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_duplicate_resources',
    help: 'Duplicate records in the listing as of the last successful refresh.',
    exampleTitle: 'Stations with duplicate records',
    example: 'telemetry_station_listing_duplicate_resources > 0',
    samples: ({ snapshot }) => [[snapshot.duplicates]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_rejected_resources',
    help: 'Records without a usable resource_id as of the last successful refresh.',
    exampleTitle: 'Stations with rejected records',
    example: 'telemetry_station_listing_rejected_resources > 0',
    samples: ({ snapshot }) => [[snapshot.rejected]],
  }),
  snapshotFamily({
    name: 'telemetry_station_listing_invalid_fields',
    help: 'Field values that could not be parsed as of the last successful refresh.',
    labels: ['field'],
    exampleTitle: 'Invalid field values by station and field',
    example: 'sum by (station, field) (telemetry_station_listing_invalid_fields) > 0',
    samples: ({ snapshot }) => LISTING_FIELDS.map((field: ListingField) => [snapshot.invalidFields[field], field]),
  }),
  groupFamily({
    name: 'telemetry_station_resources',
    help: 'Resources attached to the station as of the last successful refresh.',
    labels: ['state'],
    exampleTitle: 'Resources by type',
    example: 'sum by (resource_type) (telemetry_station_resources)',
    samples: ({ states }) => Array.from(states, ([state, count]) => [count, state] as const),
  }),
  groupFamily({
    name: 'telemetry_station_alert_rules',
    help: 'Alert rules of the resources as of the last successful refresh.',
    exampleTitle: 'Alert rules per resource',
    example: 'sum by (station) (telemetry_station_alert_rules) / sum by (station) (telemetry_station_resources)',
    samples: ({ alertRules }) => optionalSample(alertRules),
  }),
  groupFamily({
    name: 'telemetry_station_alertable_resources',
    help: 'Resources that can have alerts as of the last successful refresh; only with alertability.',
    exampleTitle: 'Share of alertable resources with an alert rule',
    example:
      '1 - sum by (station) (telemetry_station_resources_without_alert_rules) / sum by (station) (telemetry_station_alertable_resources)',
    samples: ({ alertable }, { alertability }) => (alertability ? [[alertable]] : []),
  }),
  groupFamily({
    name: 'telemetry_station_resources_without_alert_rules',
    help: 'Resources without alert rules as of the last successful refresh; with alertability, only alertable ones.',
    exampleTitle: 'Resources without alert rules by type',
    example: 'sum by (station, resource_type) (telemetry_station_resources_without_alert_rules) > 0',
    samples: ({ withoutRules }) => optionalSample(withoutRules),
  }),
  groupFamily({
    name: 'telemetry_station_sku_quantity',
    help: 'Sum of the SKU quantities of the resources as of the last successful refresh.',
    labels: ['gpu_model', 'unit'],
    exampleTitle: 'GPUs by model',
    example: 'sum by (gpu_model) (telemetry_station_sku_quantity{unit="GPU"})',
    samples: ({ quantities }) =>
      [...quantities].flatMap(([gpuModel, units]) =>
        Array.from(units, ([unit, sum]) => [sum, gpuModel, unit] as const),
      ),
  }),
  snapshotFamily({
    name: 'telemetry_station_resource_type_info',
    help: 'Information about the resource type as of the last successful refresh.',
    labels: ['resource_type', 'resource_type_label'],
    exampleTitle: 'Resources by type, with the label of the type',
    example:
      'sum by (job, instance, station, resource_type) (telemetry_station_resources) * on (job, instance, station, resource_type) group_left (resource_type_label) telemetry_station_resource_type_info',
    samples: ({ aggregates }) => Array.from(aggregates.typeLabels, ([type, label]) => [1, type, label] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_folded',
    help: 'Resources counted under the label value (other) as of the last successful refresh, because the service supplies more values than limits.label_values.',
    labels: ['label'],
    exampleTitle: 'Labels with too many values, by station',
    example: 'telemetry_station_resources_folded > 0',
    samples: ({ aggregates }) => Array.from(aggregates.folded, ([label, count]) => [count, label] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_added_total',
    help: 'Resources added between start and the last successful refresh.',
    labels: ['resource_type'],
    exampleTitle: 'Resources added in a day, by type',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_added_total[1d]))',
    samples: ({ churn }) => Array.from(churn, ([type, { added }]) => [added, type] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resources_removed_total',
    help: 'Resources removed between start and the last successful refresh.',
    labels: ['resource_type'],
    exampleTitle: 'Resources removed in a day, by type',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_removed_total[1d]))',
    samples: ({ churn }) => Array.from(churn, ([type, { removed }]) => [removed, type] as const),
  }),
  snapshotFamily({
    name: 'telemetry_station_resource_state_changes_total',
    help: 'Alert state changes between start and the last successful refresh, by new state.',
    labels: ['resource_type', 'state'],
    exampleTitle: 'State changes in an hour, by new state',
    example: 'sum by (station, state) (increase(telemetry_station_resource_state_changes_total[1h]))',
    samples: ({ churn }) =>
      [...churn].flatMap(([type, { stateChanges }]) =>
        Array.from(stateChanges, ([state, count]) => [count, type, state] as const),
      ),
  }),
] as const;
