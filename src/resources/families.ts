import { optionalSample } from '../exposition/family.ts';
import { completenessRows, HEALTH_FAMILIES } from '../exposition/health-families.ts';
import type { OWN_FAMILIES } from '../exposition/own-families.ts';
import { countByAlertState, knownOverdue, knownRuleCounts, type Quantities } from './aggregates.ts';
import { ALERT_STATES } from './alert-state.ts';
import { firingFamilies, groupFamilies, listingFamilies, resourceFamilies, typeFamilies } from './family-tables.ts';
import { LISTING_FIELDS } from './fields.ts';
import { RESOURCE_SETS } from './last-known.ts';
import { knowsAlertable } from './spec.ts';

const COMPLETENESS = completenessRows('telemetry_station_listing');

const LISTING_FAMILIES = listingFamilies({
  telemetry_station_listing_complete: COMPLETENESS.complete,
  telemetry_station_listing_resources: {
    help: 'Resources in the listing, by the meaning of their state.',
    labels: ['alert_state'],
    exampleTitle: 'Stations with more than 5 % of their resources firing',
    example:
      'telemetry_station_listing_resources{alert_state="firing"} > ignoring (alert_state) 0.05 * sum without (alert_state) (telemetry_station_listing_resources)',
    samples: ({ aggregates }) => {
      const counts = countByAlertState(aggregates);
      return ALERT_STATES.map((alertState) => [counts.get(alertState) ?? 0, alertState]);
    },
  },
  telemetry_station_listing_incomplete: COMPLETENESS.incomplete,
  telemetry_station_listing_reported_resources: {
    help: 'Total number of resources reported by the service.',
    exampleTitle: 'Resources missing from the reported total',
    example:
      'telemetry_station_listing_reported_resources - sum without (alert_state) (telemetry_station_listing_resources)',
    samples: ({ snapshot }) => optionalSample(snapshot.reportedTotal),
  },
  telemetry_station_listing_pages: {
    help: 'Pages of all listings of resources, fetched by the last successful refresh.',
    exampleTitle: 'Ten stations with the most pages',
    example: 'topk(10, telemetry_station_listing_pages)',
    samples: ({ snapshot }) => [[snapshot.pages]],
  },
  telemetry_station_listing_duplicate_resources: {
    help: 'Duplicate records in the listing.',
    exampleTitle: 'Stations with duplicate records',
    example: 'telemetry_station_listing_duplicate_resources > 0',
    samples: ({ snapshot }) => [[snapshot.duplicates]],
  },
  telemetry_station_listing_rejected_resources: {
    help: 'Records without a usable resource_id.',
    exampleTitle: 'Stations with rejected records',
    example: 'telemetry_station_listing_rejected_resources > 0',
    samples: ({ snapshot }) => [[snapshot.rejected]],
  },
  telemetry_station_listing_invalid_fields: {
    help: 'Field values that could not be parsed.',
    labels: ['field'],
    exampleTitle: 'Invalid field values by station and field',
    example: 'sum by (station, field) (telemetry_station_listing_invalid_fields) > 0',
    samples: ({ snapshot }) => LISTING_FIELDS.map((field) => [snapshot.invalidFields[field] ?? 0, field]),
  },
  telemetry_station_resources_folded: {
    isExperimental: true,
    help: 'Resources counted under the label value (other), because there are more values than limits.label_values.',
    labels: ['label'],
    exampleTitle: 'Labels with too many values, by station',
    example: 'telemetry_station_resources_folded > 0',
    samples: ({ aggregates }) => Array.from(aggregates.folded, ([label, count]) => [count, label] as const),
  },
  telemetry_station_last_known_resources: {
    help: 'Resources of the station as last known: all, and of them those that are firing, in states of unknown meaning, or missing from the listing.',
    labels: ['set'],
    exampleTitle: 'Stations with more than half of their resources firing',
    example:
      'telemetry_station_last_known_resources{set="firing"} > ignoring (set) 0.5 * telemetry_station_last_known_resources{set="all"}',
    samples: ({ lastKnown: { sets } }) =>
      RESOURCE_SETS.flatMap((set) => optionalSample(sets[set]).map(([size]) => [size, set] as const)),
  },
  telemetry_station_verified_resources: {
    help: 'Resources and rejected records of the latest listing that adds up.',
    exampleTitle: 'Stations that lost more than a fifth of their resources within six hours',
    example: 'telemetry_station_verified_resources < 0.8 * max_over_time(telemetry_station_verified_resources[6h])',
    samples: ({ lastKnown }) => optionalSample(lastKnown.verifiedResources),
  },
  telemetry_station_verified_sku_quantity: {
    help: 'Sum of the SKU quantities of the latest comparable listing, sizes in bytes; 0 for a GPU model or unit that is no longer listed.',
    labels: ['gpu_model', 'unit'],
    exampleTitle: 'Capacity that dropped by more than a fifth within six hours',
    example:
      'telemetry_station_verified_sku_quantity < 0.8 * max_over_time(telemetry_station_verified_sku_quantity[6h])',
    samples: ({ lastKnown }) => quantitySamples(lastKnown.verifiedQuantities),
  },
});

const GROUP_FAMILIES = groupFamilies({
  telemetry_station_resources: {
    help: 'Resources attached to the station.',
    labels: ['state', 'alert_state'],
    exampleTitle: 'Firing resources by type',
    example: 'sum by (resource_type) (telemetry_station_resources{alert_state="firing"})',
    samples: ({ states }) =>
      [...states].flatMap(([alertState, counts]) =>
        Array.from(counts, ([state, count]) => [count, state, alertState] as const),
      ),
  },
  telemetry_station_alert_rules: {
    help: 'Alert rules of the resources.',
    exampleTitle: 'Alert rules per resource',
    example: 'sum by (station) (telemetry_station_alert_rules) / sum by (station) (telemetry_station_resources)',
    samples: ({ alertRules }) => optionalSample(alertRules),
  },
  telemetry_station_alertable_resources: {
    help: 'Resources that can have alerts, except exempt ones; only with alertability or exemptions.',
    exampleTitle: 'Share of alertable resources',
    example:
      'sum by (station) (telemetry_station_alertable_resources) / sum by (station) (telemetry_station_resources)',
    samples: ({ alertable }, spec) => (knowsAlertable(spec) ? optionalSample(alertable) : []),
  },
  telemetry_station_coverable_resources: {
    help: 'Resources that alert rules could cover: all but exempt ones.',
    exampleTitle: 'Share of resources whose coverage by alert rules is unknown, by station',
    example:
      'sum by (station) (telemetry_station_resources_with_unknown_alert_coverage) / sum by (station) (telemetry_station_coverable_resources)',
    samples: ({ withRules, withoutRules, unknownCoverage }) => [[withRules + withoutRules + unknownCoverage]],
  },
  telemetry_station_resources_with_alert_rules: {
    help: 'Resources known to be covered by alert rules, except exempt ones.',
    exampleTitle: 'Share of resources that are known to be covered by alert rules, by station',
    example:
      'sum by (station) (telemetry_station_resources_with_alert_rules) / sum by (station) (telemetry_station_coverable_resources)',
    samples: (group) => optionalSample(knownRuleCounts(group)?.withRules),
  },
  telemetry_station_resources_without_alert_rules: {
    help: 'Resources known not to be covered by alert rules, except exempt ones.',
    exampleTitle: 'Resources not covered by alert rules, by type',
    example: 'sum by (station, resource_type) (telemetry_station_resources_without_alert_rules) > 0',
    samples: (group) => optionalSample(knownRuleCounts(group)?.withoutRules),
  },
  telemetry_station_resources_with_unknown_alert_coverage: {
    help: 'Resources of which it is unknown whether they are covered by alert rules.',
    exampleTitle: 'Resources with unknown alert coverage, by station',
    example: 'sum by (station) (telemetry_station_resources_with_unknown_alert_coverage) > 0',
    samples: ({ unknownCoverage }) => [[unknownCoverage]],
  },
  telemetry_station_oldest_uncovered_created_timestamp_seconds: {
    isExperimental: true,
    help: 'Creation timestamp of the oldest resource known not to be covered by alert rules, except exempt ones.',
    exampleTitle: 'Age of the oldest resource that is not covered, by station',
    example: 'time() - min by (station) (telemetry_station_oldest_uncovered_created_timestamp_seconds)',
    samples: ({ oldestUncovered }) => optionalSample(oldestUncovered),
  },
  telemetry_station_uncovered_resources_with_unknown_age: {
    isExperimental: true,
    help: 'Resources known not to be covered by alert rules whose creation timestamp is unknown, except exempt ones.',
    exampleTitle: 'Resources that may be overdue, because their age is unknown, by station',
    example: 'sum by (station) (telemetry_station_uncovered_resources_with_unknown_age) > 0',
    samples: (group) => optionalSample(knownRuleCounts(group) && group.unknownAge),
  },
  telemetry_station_overdue_resources: {
    isExperimental: true,
    help: 'Resources known not to be covered by alert rules although they are older than coverage.within, except exempt ones; only with coverage.within.',
    exampleTitle: 'Overdue resources, by type',
    example: 'sum by (station, resource_type) (telemetry_station_overdue_resources) > 0',
    samples: (group) => optionalSample(knownOverdue(group)),
  },
  telemetry_station_sku_quantity: {
    help: 'Sum of the SKU quantities of the resources, sizes in bytes.',
    labels: ['gpu_model', 'unit'],
    exampleTitle: 'GPUs by model',
    example: 'sum by (gpu_model) (telemetry_station_sku_quantity{unit="GPU"})',
    samples: ({ quantities }) => quantitySamples(quantities),
  },
});

const CHURN_FAMILIES = typeFamilies({
  telemetry_station_resources_added_total: {
    help: 'Resources added since start.',
    exampleTitle: 'Resources added in a day, by type (`increase` extrapolates, so it may not be an integer)',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_added_total[1d]))',
    samples: ({ churn }) => Array.from(churn.published, ([type, { added }]) => [added, type] as const),
  },
  telemetry_station_resources_removed_total: {
    help: 'Resources removed since start.',
    exampleTitle: 'Resources removed in a day, by type',
    example: 'sum by (resource_type) (increase(telemetry_station_resources_removed_total[1d]))',
    samples: ({ churn }) => Array.from(churn.published, ([type, { removed }]) => [removed, type] as const),
  },
  telemetry_station_resource_state_changes_total: {
    help: 'Alert state changes since start, by new state.',
    labels: ['state', 'alert_state'],
    exampleTitle: 'Resources that began to fire in an hour, by station',
    example: 'sum by (station) (increase(telemetry_station_resource_state_changes_total{alert_state="firing"}[1h]))',
    samples: ({ churn }) =>
      [...churn.published].flatMap(([type, { stateChanges }]) =>
        [...stateChanges].flatMap(([alertState, counts]) =>
          Array.from(counts, ([state, count]) => [count, type, state, alertState] as const),
        ),
      ),
  },
});

/** The families of a station, except those of single resources, that are published while it has a snapshot. */
export const SNAPSHOT_FAMILIES = { ...LISTING_FAMILIES, ...GROUP_FAMILIES, ...CHURN_FAMILIES };

/** Published while the station has a snapshot that lists at most `metrics.max_firing_resources` firing resources. */
export const FIRING_FAMILIES = firingFamilies({
  telemetry_station_resource_firing: {
    help: 'Whether the resource is firing, as last known.',
    labels: ['display_name', 'resource_type', 'product'],
    exampleTitle: 'Firing resources by type, up to max_firing_resources of a station',
    example: 'count by (station, resource_type) (telemetry_station_resource_firing)',
    sample: ({ displayName, type, product }) => [1, displayName, type, product],
  },
});

export const RESOURCE_FAMILIES = resourceFamilies({
  telemetry_station_resource_info: {
    help: 'Information about the resource.',
    labels: ['display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable'],
    exampleTitle: 'Resources that can have alerts',
    example: 'telemetry_station_resource_info{alertable="true"}',
    hasRowLabels: true,
    sample: (r) => [1, r.displayName, r.type, r.product, r.sku, r.gpuModel, String(r.alertable ?? '')],
  },
  telemetry_station_resource_state: {
    help: 'Alert state of the resource.',
    labels: ['state', 'alert_state'],
    exampleTitle: 'Firing resources',
    example: 'telemetry_station_resource_state{alert_state="firing"} == 1',
    sample: (r) => (r.state === '' ? undefined : [1, r.state, r.alertState]),
  },
  telemetry_station_resource_alert_rules: {
    help: 'Alert rules of the resource.',
    exampleTitle: 'Resources without alert rules, except those that cannot have alerts',
    example:
      'telemetry_station_resource_info{alertable!="false"} and on (station, resource_id) (telemetry_station_resource_alert_rules == 0)',
    sample: (r) => (r.alertRules === undefined ? undefined : [r.alertRules]),
  },
  telemetry_station_resource_created_timestamp_seconds: {
    help: 'Creation timestamp of the resource.',
    exampleTitle: 'Resources created in the last day',
    example: 'time() - telemetry_station_resource_created_timestamp_seconds < 86400',
    sample: (r) => (r.createdSeconds === undefined ? undefined : [r.createdSeconds]),
  },
  telemetry_station_resource_sku_quantity: {
    help: 'SKU quantity of the resource, sizes in bytes.',
    labels: ['unit'],
    exampleTitle: 'Ten resources with the most GPUs',
    example: 'topk(10, telemetry_station_resource_sku_quantity{unit="GPU"})',
    sample: (r, quantityOf) => {
      const quantity = quantityOf(r.sku);
      return quantity && [quantity.value, quantity.unit];
    },
  },
});

export const STATION_FAMILIES = {
  ...HEALTH_FAMILIES,
  ...SNAPSHOT_FAMILIES,
  ...FIRING_FAMILIES,
  ...RESOURCE_FAMILIES,
};

type Family =
  | (typeof STATION_FAMILIES)[keyof typeof STATION_FAMILIES]
  | (typeof OWN_FAMILIES)[keyof typeof OWN_FAMILIES];

export type FamilyName = Family['name'];

function quantitySamples(quantities: Quantities): (readonly [sum: number, gpuModel: string, unit: string])[] {
  return [...quantities].flatMap(([gpuModel, units]) =>
    Array.from(units, ([unit, sum]) => [sum, gpuModel, unit] as const),
  );
}
